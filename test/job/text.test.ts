import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstLine, head, headline, storable, tail, visible, visibleLines } from '#src/job/text.js';

/** Texts as handlers print them: any UTF-16, with the awkward kinds often. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('\0', '\ud83e', '\udd80', '🦀', '\n', '\r\n', '\x1b[31m', '\u202e', 'é', 'x'),
  ),
  maxLength: 60,
});
const characters = (text: string) => Array.from(text).length;
const wellFormed = (text: string) => text.isWellFormed();

describe('storable', () => {
  it('gives text that Postgres takes, whatever came in', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const stored = storable(text);
        expect(wellFormed(stored)).toBe(true);
        expect(stored).not.toContain('\0');
        expect(storable(stored)).toBe(stored);
      }),
    );
  });

  it('leaves a trace of what it replaced, and everything else as it was', () => {
    expect(storable('a\0b\ud83ec 🦀\n')).toBe('a\u2400b\ufffdc 🦀\n');
  });
});

describe.each([
  ['tail', tail, (text: string, count: number) => Array.from(text).slice(-count)],
  ['head', head, (text: string, count: number) => Array.from(text).slice(0, count)],
] as const)('%s', (name, cutTo, end) => {
  it('is the text itself when it fits, else exactly so many characters with an ellipsis', () => {
    fc.assert(
      fc.property(anyText.map(storable), fc.integer({ min: 1, max: 40 }), (text, count) => {
        const cut = cutTo(text, count);
        if (characters(text) <= count) {
          expect(cut).toBe(text);
          return;
        }
        expect(characters(cut)).toBe(count);
        const kept = count === 1 ? '' : end(text, count - 1).join('');
        expect(cut).toBe(name === 'tail' ? `…${kept}` : `${kept}…`);
        expect(wellFormed(cut)).toBe(true);
      }),
    );
  });

  it('never splits a character of two units', () => {
    for (let count = 1; count < 6; count += 1) {
      expect(wellFormed(cutTo('🦀🦀🦀🦀🦀', count))).toBe(true);
      expect(wellFormed(cutTo('x🦀🦀🦀🦀🦀x', count))).toBe(true);
    }
  });

  it('takes no time for megabytes', () => {
    expect(characters(cutTo('🦀'.repeat(5_000_000), 2_000))).toBe(2_000);
  });
});

describe('firstLine', () => {
  it.each([
    ['', ''],
    ['\n\r\n  \n', ''],
    ['\n\n  it broke  \r\nmore', 'it broke'],
    ['one\rtwo', 'one'],
    ['🦀'.repeat(30), `${'🦀'.repeat(9)}…`],
  ])('of %j, in ten characters, is %j', (text, line) => {
    expect(firstLine(text, 10)).toBe(line);
  });

  it('is one line of at most so many characters', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 20 }), (text, count) => {
        const line = firstLine(text, count);
        expect(line).not.toMatch(/[\r\n]/);
        expect(characters(line)).toBeLessThanOrEqual(count);
      }),
    );
  });
});

describe('headline', () => {
  const PYTHON = [
    'Traceback (most recent call last):',
    '  File "/handlers/push.py", line 12, in <module>',
    '    total = body["size"]',
    '            ~~~~^^^^^^^^',
    "KeyError: 'size'",
  ];
  const NODE = [
    'file:///handlers/push.mjs:3',
    "throw new TypeError('no size');",
    '      ^',
    '',
    'TypeError: no size',
    '    at file:///handlers/push.mjs:3:7',
    '',
    'Node.js v20.20.2',
  ];
  it.each([
    ['Python’s last line', PYTHON.join('\n'), "KeyError: 'size'"],
    [
      'Python’s, of a trace whose start was cut off',
      `…\n${PYTHON.slice(1).join('\n')}`,
      "KeyError: 'size'",
    ],
    [
      'the exception of a package, of a cut trace',
      '…in send\n  File "/x/adapters.py", line 519, in send\n    raise x\nrequests.exceptions.ConnectionError: refused',
      'requests.exceptions.ConnectionError: refused',
    ],
    ['node’s, under the line that threw', NODE.join('\n'), 'TypeError: no size'],
    ['node’s uncaught error', 'Uncaught RangeError: far', 'Uncaught RangeError: far'],
    ['the first of anything else', '\n  disk full\nsorry\n', 'disk full'],
    ['the last even with CRLF', PYTHON.join('\r\n'), "KeyError: 'size'"],
    ['nothing of nothing', ' \n', ''],
  ])('is %s', (_what, error, line) => {
    expect(headline(error)).toBe(line);
  });

  it('is one line of at most 200 characters', () => {
    expect(headline(`ValueError: ${'🦀'.repeat(1_000)}`)).toMatch(/^ValueError: 🦀+…$/u);
    fc.assert(
      fc.property(anyText, (text) => {
        expect(headline(text)).not.toMatch(/[\r\n]/);
        expect(characters(headline(text))).toBeLessThanOrEqual(200);
      }),
    );
  });
});

describe('visible', () => {
  it('never holds a control character, a line separator, a bidi mark or half a character', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(visible(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u);
      }),
    );
    const all = Array.from({ length: 0x10000 }, (_none, code) => String.fromCharCode(code));
    const shown = all.map(visible).join(' ');
    expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u);
  });

  it.each([
    ['a newline', 'a\nb', 'a\\nb'],
    ['CRLF and a tab', 'a\r\n\tb', 'a\\r\\n\\tb'],
    ['a control sequence', '\x1b[2Jx', '\\x1b[2Jx'],
    ['an 8-bit control sequence', '\u009b2Jx', '\\x9b2Jx'],
    ['NUL and DEL', '\0\x7f', '\\x00\\x7f'],
    ['a bidi override', 'gnp.\u202eexe', 'gnp.\\u202eexe'],
    ['a bidi isolate and mark', '\u2066\u200e\u061c', '\\u2066\\u200e\\u061c'],
    ['line and paragraph separators', '\u2028\u2029', '\\u2028\\u2029'],
    ['a lone surrogate', '\ud83e!', '\\ud83e!'],
  ])('shows %s as an escape', (_what, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('leaves letters, emoji and joined emoji alone', () => {
    const text = 'päyment 支払い 🦀 👩‍👩‍👧 مرحبا';
    expect(visible(text)).toBe(text);
  });
});

describe('visibleLines', () => {
  it('keeps lines and tabs, and escapes the rest', () => {
    expect(visibleLines('a\tb\r\n\x1b[31mc\n10 %\r20 %')).toBe('a\tb\n\\x1b[31mc\n10 %\\r20 %');
  });
});
