import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { plain } from '#ui/text/plain.js';
import { wrap, wrapWords } from '#ui/text/wrap.js';
import { awkward } from '../../support/awkward-text.js';

describe('a line in pieces', () => {
  it('loses nothing, and no piece is too wide', () => {
    fc.assert(
      fc.property(awkward.map(plain), fc.integer({ min: 2, max: 20 }), (text, width) => {
        const pieces = wrap(text, width);
        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) expect(stringWidth(piece)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it.each([
    ['abcdef', 3, ['abc', 'def']],
    ['支払い', 4, ['支払', 'い']],
    ['', 10, ['']],
    ['ab', 0, ['a', 'b']],
  ])('%j at %i columns is %j', (line, width, pieces) => {
    expect(wrap(line, width)).toEqual(pieces);
  });

  it('takes no second for a line of a megabyte (k9s 72, 1705)', () => {
    const startedAt = performance.now();
    expect(wrap('x'.repeat(1_000_000), 100)).toHaveLength(10_000);
    expect(wrap('支'.repeat(100_000), 100)).toHaveLength(2_000);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});

describe('sentences', () => {
  it('are broken between words, and inside one that is too long', () => {
    expect(wrapWords('it is tried again', 9)).toEqual(['it is', 'tried', 'again']);
    expect(wrapWords('see /a/very/long/path', 8)).toEqual(['see', '/a/very/', 'long/pat', 'h']);
  });
});
