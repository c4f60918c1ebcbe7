import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { cut } from '#src/columns.js';
import { awkward } from './support/awkward-text.js';

const graphemes = (text: string) =>
  Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);

describe('cut', () => {
  it('is the text when it fits, else its start and an ellipsis, never half a character', () => {
    fc.assert(
      fc.property(awkward, fc.integer({ min: 1, max: 15 }), (text, width) => {
        const fitted = cut(text, width);
        expect(stringWidth(fitted)).toBeLessThanOrEqual(width);
        if (stringWidth(text) <= width) {
          expect(fitted).toBe(text);
          return;
        }
        const kept = graphemes(fitted.slice(0, -1));
        expect(fitted.at(-1)).toBe('…');
        expect(graphemes(text).slice(0, kept.length)).toEqual(kept);
        // As much as fits: one more character would be too wide.
        const next = graphemes(text)[kept.length]!;
        expect(stringWidth(kept.join('') + next)).toBeGreaterThan(width - 1);
      }),
    );
  });

  it.each([
    ['支払い処理', 6, '支払…'],
    ['支払い処理', 5, '支払…'],
    ['👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['', 1, ''],
  ])('of %j to %i columns is %j', (text, width, fitted) => {
    expect(cut(text, width)).toBe(fitted);
  });

  it('does not read on in a line of megabytes (k9s 72)', () => {
    const startedAt = performance.now();
    expect(cut('x'.repeat(10_000_000), 80)).toBe(`${'x'.repeat(79)}…`);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('holds against a character without end', () => {
    const endless = `a${'\u0301'.repeat(100_000)}`;
    expect(cut(`xy${endless}`, 5)).toBe('xy…');
    expect(cut(`x${'🦀'.repeat(100_000)}`, 5).isWellFormed()).toBe(true);
  });
});
