import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { plain, plainOutput } from '#ui/text/plain.js';
import { awkward } from '../../support/awkward-text.js';

/** What moves a cursor, ends a line or turns the writing round. */
const DANGEROUS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('plain text', () => {
  it.each([
    ['a control sequence', '\u001b[2Jpush', '\\x1b[2Jpush'],
    ['a C1 control', '\u009b2J', '\\x9b2J'],
    ['a title', '\u001b]0;owned\u0007', '\\x1b]0;owned\\x07'],
    ['a new line', 'a\nb\r', 'a\\nb\\r'],
    ['bidi marks', 'a\u202eb', 'a\\u202eb'],
    ['a family', '👩‍👩‍👧', '👩👩👧'],
    ['a skin tone and a heart', '👍🏽❤️', '👍❤'],
    ['CJK', '支払い', '支払い'],
  ])('shows %s without doing it', (_what, text, shown) => {
    expect(plain(text)).toBe(shown);
  });

  it('holds for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plain(text)).not.toMatch(DANGEROUS);
        expect(plainOutput(text)).not.toMatch(DANGEROUS);
      }),
    );
  });

  it('leaves nothing that terminals disagree about: characters are as wide as they are alone', () => {
    fc.assert(
      fc.property(awkward, (text) => {
        const shown = plain(text);
        const alone = [...shown].reduce((sum, character) => sum + stringWidth(character), 0);
        // A flag is two letters of one column each, and two columns together.
        const flags = shown.match(/\p{Regional_Indicator}/gu)?.length ?? 0;
        expect(alone - flags).toBe(stringWidth(shown) - (flags / 2) * 2);
      }),
    );
  });
});

describe('what a program wrote', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a progress line', '10 %\r50 %\r100 %', '100 %'],
    ['a Windows line end', 'done\r', 'done'],
    ['tabs', 'a\tb', 'a    b'],
    ['half a sequence', 'a\u001b[', 'a\\x1b['],
    ['a clear screen', '\u001b[2J\u001b[Hx', 'x'],
  ])('is shown without %s', (_what, line, shown) => {
    expect(plainOutput(line)).toBe(shown);
  });
});
