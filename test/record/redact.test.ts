import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '#src/record/redact.js';

const redact = (payload: string, ...rules: string[]) =>
  createRedactor(rules, 'salt').redact(payload);

describe('what a path names', () => {
  const PAYLOAD =
    '{"user": {"email": "a@b.de", "name": "Ann"}, "items": [{"token": "x"}, {"token": "y"}], "a.b": 123456}';
  const changed = (rule: string) => {
    const before = JSON.parse(PAYLOAD);
    const after = JSON.parse(redact(PAYLOAD, rule));
    return [
      before.user.email !== after.user.email && 'email',
      before.user.name !== after.user.name && 'name',
      before.items[0].token !== after.items[0].token && 'token 0',
      before.items[1].token !== after.items[1].token && 'token 1',
      before['a.b'] !== after['a.b'] && 'a.b',
    ].filter(Boolean);
  };
  it.each([
    ['user.email', ['email']],
    ['$.user.email', ['email']],
    ["$['user']['email']", ['email']],
    ['user', ['email', 'name']],
    ['user.*', ['email', 'name']],
    ['*.email', ['email']],
    ['$..email', ['email']],
    ['items[*].token', ['token 0', 'token 1']],
    ['items[1].token', ['token 1']],
    ['items[1]', ['token 1']],
    ['$..token', ['token 0', 'token 1']],
    ['["a.b"]', ['a.b']],
    ['a.b', []],
    ['User.email', []],
    ['email', []],
    ['user.email.more', []],
  ])('%s', (rule, expected) => {
    expect(changed(rule)).toEqual(expected);
  });

  it.each(['', '$', '.', 'a..', 'a[', 'a[x]', 'a b', "a['x"])('%j is no path', (rule) => {
    expect(() => createRedactor([rule], 's')).toThrow(/is no path/);
  });
});

describe('a replacement', () => {
  it('is the same for the same value and salt, and another for another', () => {
    const twice = redact('["x", "y", "x"]', '*');
    const [first, second, third] = JSON.parse(twice);
    expect(first).toBe(third);
    expect(first).not.toBe(second);
    expect(redact('"x"', '*')).toBe('"x"');
    expect(createRedactor(['*'], 'pepper').redact('["x"]')).not.toBe(`["${first}"]`);
  });

  it('keeps the kind of value: number, boolean, null, address, URL', () => {
    const after = redact(
      '[1970670598291982290, -0.50e+3, true, null, "a@b.de", "https://b.de/?k=1", ""]',
      '*',
    );
    expect(after).toMatch(
      /^\[[1-9]\d{18}, -0\.\d\de\+3, false, null, "redacted-[0-9a-f]{12}@example\.com", "https:\/\/example\.com\/redacted-[0-9a-f]{12}", "redacted-[0-9a-f]{12}"\]$/,
    );
  });

  it('leaves everything else as it was, digit for digit, and is JSON of the same shape', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const payload = JSON.stringify({ keep: value, hide: value });
        const after = redact(payload, 'hide');
        expect(after.startsWith(payload.slice(0, payload.lastIndexOf(',"hide"')))).toBe(true);
        const shape = (item: unknown): unknown => {
          if (Array.isArray(item)) return item.map(shape);
          if (item === null || typeof item !== 'object') return item === null ? null : typeof item;
          return Object.entries(item).map(([key, inner]) => [key, shape(inner)]);
        };
        expect(shape(JSON.parse(after).hide)).toEqual(shape(JSON.parse(payload).hide));
      }),
    );
  });

  it('takes what a pattern matches out of any string, and counts values', () => {
    const redactor = createRedactor(['/\\d{16}/', '/secret/i'], 's');
    const after = redactor.redact(
      '{"note": "card 4111111111111111 and 4111111111111111, Secret", "n": 4111111111111111, "ok": "fine"}',
    );
    expect(after).toMatch(
      /^\{"note": "card (redacted-\w{12}) and \1, redacted-\w{12}", "n": 4111111111111111, "ok": "fine"\}$/,
    );
    expect(redactor.count).toBe(1);
  });

  it('does not run out of stack on deep JSON', () => {
    const deep = `${'['.repeat(100_000)}"x"${']'.repeat(100_000)}`;
    expect(redact(deep, '/x/')).toContain('redacted-');
  });
});

it('tells which rules met nothing', () => {
  const redactor = createRedactor(['usr.email', 'user.email', '/never/'], 's');
  redactor.redact('{"user":{"email":"x"}}');
  expect(redactor.unused()).toEqual(['usr.email', '/never/']);
});
