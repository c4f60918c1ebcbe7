import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prettyJson } from '#ui/text/pretty-json.js';

describe('JSON over several lines', () => {
  it('keeps every digit and every escape as it was written', () => {
    const text =
      '{"id":1970670598291982290,"n":1.10,"e":1e2,"s":"\\u00e9 \\"{}[],:\\"","a":[],"o":{}}';
    expect(prettyJson(text)).toBe(
      [
        '{',
        '  "id": 1970670598291982290,',
        '  "n": 1.10,',
        '  "e": 1e2,',
        '  "s": "\\u00e9 \\"{}[],:\\"",',
        '  "a": [],',
        '  "o": {}',
        '}',
      ].join('\n'),
    );
  });

  it('is what JSON.stringify would make of it, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const expected = JSON.stringify(value, null, 2);
        expect(prettyJson(JSON.stringify(value))).toBe(expected);
        expect(prettyJson(expected)).toBe(expected);
      }),
    );
  });
});
