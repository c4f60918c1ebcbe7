import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkJson,
  checkJsonb,
  JsonFault,
  members,
  RawJson,
  scalars,
  slices,
  stringify,
} from '#src/json.js';

/** JSON text of any value, with random white space between the tokens. */
const spacedJson = fc
  .tuple(fc.jsonValue({ maxDepth: 5 }), fc.infiniteStream(fc.constantFrom('', ' ', '\n\t', '\r\n')))
  .map(([value, spaces]) => {
    const tokens = JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^"[\]{}:,\s]+/g) ?? [];
    const space = () => spaces.next().value as string;
    return space() + tokens.map((token) => token + space()).join('');
  });

/** A key with something in it that a careless scanner takes for structure. */
const trickyKey = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('__proto__', 'constructor', '', '"', '\\', '{"a":1}', ',', ':', '\u2028', '🦀'),
);

function faultOf(work: () => unknown): JsonFault {
  try {
    work();
  } catch (error) {
    if (error instanceof JsonFault) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('checkJson', () => {
  it('takes every JSON value, however it is spaced', () => {
    fc.assert(
      fc.property(spacedJson, (text) => {
        expect(() => checkJson(text)).not.toThrow();
      }),
    );
  });

  it('agrees with JSON.parse on any text made of JSON’s own characters', () => {
    const unit = fc.constantFrom(...'{}[]",:\\ \n01-.eE+tfnu'.split(''), 'true', 'null', '\\u00e9');
    const agrees = (text: string) => {
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      if (valid) expect(() => checkJson(text)).not.toThrow();
      else faultOf(() => checkJson(text));
    };
    fc.assert(fc.property(fc.string({ unit, maxLength: 12 }), agrees), { numRuns: 3_000 });
    // Random texts are seldom nearly right; valid ones with one character changed are.
    fc.assert(
      fc.property(spacedJson, fc.nat(), unit, (text, at, other) => {
        const index = at % Math.max(1, text.length);
        agrees(text.slice(0, index) + other + text.slice(index + 1));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['nothing', '', 1, 1, /ends too early/],
    ['only white space', ' \n ', 2, 2, /ends too early/],
    ['an object that does not end', '{"a":1', 1, 7, /ends too early/],
    ['a string that does not end', '{"a":"b}', 1, 6, /string that does not end/],
    ['a trailing comma', '{"a":1,}', 1, 8, /unexpected "}"/],
    ['a trailing comma in an array', '[1,]', 1, 4, /unexpected "]"/],
    ['a comment', '{} // no', 1, 4, /unexpected "\/"/],
    ['a second value', '{}{}', 1, 3, /unexpected "{"/],
    ['a key without quotes', '{a:1}', 1, 2, /unexpected "a"/],
    ['a missing colon', '{"a" 1}', 1, 6, /unexpected "1"/],
    ['a missing comma', '[1 2]', 1, 4, /unexpected "2"/],
    ['single quotes', "['a']", 1, 2, /unexpected "'"/],
    ['an octal number', '[1, 01]', 1, 5, /number/],
    ['a number without its fraction', '{"a":1.}', 1, 6, /number/],
    ['a plus sign', '[+1]', 1, 2, /unexpected "\+"/],
    ['a wrong literal', '[nul]', 1, 2, /unexpected "n"/],
    ['NaN', 'NaN', 1, 1, /unexpected "N"/],
    ['a bad escape', '["a\\x"]', 1, 4, /bad escape/],
    ['half an escape', '["\\u12"]', 1, 3, /bad escape/],
    ['a raw newline in a string', '["a\nb"]', 1, 4, /control character/],
    ['a byte order mark', '\ufeff{}', 1, 1, /unexpected "\ufeff"/],
    ['a wrong bracket', '{"a":[1}', 1, 8, /unexpected "}"/],
    ['a fault on a later line', '{\n  "a": 1,\n  "b": x\n}', 3, 8, /unexpected "x"/],
    ['a fault after emoji, which count once', '{"🦀🦀": x}', 1, 8, /unexpected "x"/],
    ['a fault at an emoji', '[1, 🦀]', 1, 5, /unexpected "🦀"/],
  ])('refuses %s, with line and column', (_what, text, line, column, reason) => {
    const fault = faultOf(() => checkJson(text));
    expect(fault).toMatchObject({ line, column });
    expect(fault.reason).toMatch(reason);
    expect(fault.message).toBe(`line ${line}, column ${column}: ${fault.reason}`);
  });

  it.each(['[', '{"a":'])('is not stopped by 100,000 levels of %s', (open) => {
    const depth = 100_000;
    const close = open === '[' ? ']' : '}';
    expect(() => checkJson(`${open.repeat(depth)}1${close.repeat(depth)}`)).not.toThrow();
    const short = `${open.repeat(depth)}1${close.repeat(depth - 1)}`;
    expect(faultOf(() => checkJson(short)).column).toBe(short.length + 1);
  });

  it('is not stopped by tens of megabytes in one token', () => {
    const long = 'x'.repeat(30_000_000);
    expect(() => checkJson(`"${long}"`)).not.toThrow();
    expect(() => checkJson(`${' '.repeat(30_000_000)}1`)).not.toThrow();
    expect(() => checkJson('1'.repeat(30_000_000))).not.toThrow();
    expect(faultOf(() => checkJson(`"${long}" x`)).column).toBe(30_000_004);
    expect(faultOf(() => checkJson(`"${long}`)).column).toBe(1);
  });
});

describe('checkJsonb', () => {
  it.each([
    ['a NUL', '{"a":"b\\u0000"}', 8, '\\u0000 cannot be stored in jsonb'],
    ['a NUL in a key', '{"\\u0000":1}', 3, '\\u0000 cannot be stored in jsonb'],
    ['a high surrogate alone', '["\\ud83e"]', 3, '\\ud83e is half a character'],
    ['a low surrogate alone', '["\\udd80"]', 3, '\\udd80 is half a character'],
    ['a pair the wrong way round', '["\\udd80\\ud83e"]', 3, '\\udd80 is half a character'],
    ['two highs and a low', '["\\uD83E\\uD83E\\uDD80"]', 3, '\\uD83E is half a character'],
  ])('refuses %s, as Postgres does', (_what, text, column, reason) => {
    expect(faultOf(() => checkJsonb(text))).toMatchObject({ column, reason });
  });

  it.each([
    ['a pair', '["\\ud83e\\udd80"]'],
    ['an escaped backslash before u0000', '["\\\\u0000"]'],
    ['every other escape', '["\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uffff"]'],
  ])('takes %s', (_what, text) => {
    expect(() => checkJsonb(text)).not.toThrow();
  });
});

describe('slices', () => {
  it('cuts out what JSON.parse finds, for any object or array', () => {
    fc.assert(
      fc.property(spacedJson, (text) => {
        const value: unknown = JSON.parse(text);
        if (typeof value !== 'object' || value === null) {
          expect(faultOf(() => slices(text)).reason).toMatch(/object or array/);
          return;
        }
        const found = [...slices(text)].map(([key, slice]) => [key, JSON.parse(slice)]);
        expect(Object.fromEntries(found)).toEqual({ ...value });
        expect(found).toHaveLength(Object.keys(value).length);
      }),
    );
  });

  it('refuses what checkJson refuses, in the same words', () => {
    const unit = fc.constantFrom(...'{}[]",:\\ 1e'.split(''), 'null');
    fc.assert(
      fc.property(spacedJson, fc.nat(), unit, (text, at, other) => {
        const index = at % Math.max(1, text.length);
        const bent = text.slice(0, index) + other + text.slice(index + 1);
        const said = (check: (text: string) => void) => {
          try {
            check(bent);
            return undefined;
          } catch (error) {
            return (error as Error).message;
          }
        };
        const fault = said(slices);
        if (fault !== undefined && /object or array/.test(fault))
          expect(said(checkJson)).toBe(undefined);
        else expect(fault).toBe(said(checkJson));
      }),
      { numRuns: 3_000 },
    );
  });

  it('keeps the text of each value to the character', () => {
    const text = ' { "id" : 1970670598291982290 , "n":1.50E+2,"s":"\\u0041" , "o" : { "a" : 1 } } ';
    expect(Object.fromEntries(slices(text))).toEqual({
      id: '1970670598291982290',
      n: '1.50E+2',
      s: '"\\u0041"',
      o: '{ "a" : 1 }',
    });
  });

  it('takes any key', () => {
    fc.assert(
      fc.property(fc.uniqueArray(trickyKey), (keys) => {
        const text = `{${keys.map((key, index) => `${JSON.stringify(key)}:${index}`).join(',')}}`;
        expect([...slices(text)]).toEqual(keys.map((key, index) => [key, String(index)]));
      }),
    );
  });

  it('lets the last of a doubled key win, as jsonb does, however the key is written', () => {
    fc.assert(
      fc.property(trickyKey, fc.array(fc.jsonValue(), { minLength: 1 }), (key, values) => {
        const escaped = [...key]
          .flatMap((char) => char.split(''))
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join('');
        const text = `{${values
          .map((value, index) => {
            const written = index % 2 === 0 ? JSON.stringify(key) : `"${escaped}"`;
            return `${written}:${JSON.stringify(value)}`;
          })
          .join(',')}}`;
        expect([...slices(text)]).toEqual([[key, JSON.stringify(values.at(-1))]]);
      }),
    );
  });

  it('cuts out deep and large values without harm', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const large = `"${'x'.repeat(30_000_000)}"`;
    const found = slices(`{"deep":${deep},"large":${large}}`);
    expect(found.get('deep') === deep && found.get('large') === large).toBe(true);
  });
});

describe('members', () => {
  it('says where each key and value stands', () => {
    const text = '{ "a": 1, "b" : [10, 20] }';
    for (const [key, { text: value, keyPosition, position }] of members(text)) {
      expect(text.slice(keyPosition)).toMatch(new RegExp(`^"${key}"`));
      expect(text.slice(position, position + value.length)).toBe(value);
    }
    expect(members('[10, 20]').get('1')).toEqual({ text: '20', keyPosition: 5, position: 5 });
  });
});

describe('stringify', () => {
  it('is JSON.stringify when nothing is raw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        expect(stringify(value, indent)).toBe(JSON.stringify(value, null, indent));
      }),
    );
  });

  it('puts raw JSON in digit for digit, whatever stands around it', () => {
    const raw = new RawJson('{"id":1970670598291982290,"$&":"$1"}');
    const text = stringify({ id: '7', payload: raw, all: [raw, 'x'], at: new Date(0) });
    expect(text).toBe(
      `{"id":"7","payload":${raw.text},"all":[${raw.text},"x"],"at":"1970-01-01T00:00:00.000Z"}`,
    );
    expect(stringify(raw)).toBe(raw.text);
  });

  it('comes back out of slices as it went in', () => {
    fc.assert(
      fc.property(spacedJson, fc.string(), (text, other) => {
        const raw = text.trim();
        expect(slices(stringify({ other, payload: new RawJson(raw) })).get('payload')).toBe(raw);
      }),
    );
  });
});

describe('scalars', () => {
  it('are those that JSON.parse finds, each at its place', () => {
    const walk = (value: unknown, path: string[]): [string, unknown][] => {
      if (value === null || typeof value !== 'object') return [[path.join('\0'), value]];
      return Object.entries(value).flatMap(([key, inner]) => walk(inner, [...path, key]));
    };
    fc.assert(
      fc.property(spacedJson, (text) => {
        const found: [string, unknown][] = [];
        for (const { path, from, to } of scalars(text)) {
          found.push([path.join('\0'), JSON.parse(text.slice(from, to))]);
        }
        // A key such as "1" comes first in an object, whatever its place in the text.
        expect(found.sort(byPath)).toEqual(walk(JSON.parse(text), []).sort(byPath));
      }),
    );
  });
});

function byPath(a: unknown[], b: unknown[]): number {
  return String(a[0]) < String(b[0]) ? -1 : 1;
}
