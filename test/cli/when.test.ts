import { describe, expect, it } from 'vitest';
import { parseCount, parseWhen } from '#src/cli/when.js';

const NOW = new Date('2026-05-01T12:00:00Z');
const usage = (message: string | RegExp) =>
  expect.objectContaining({
    code: 'usage',
    exitStatus: 2,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
    hint: expect.stringMatching(/\S/),
  });

describe('parseWhen', () => {
  it.each([
    ['0', '2026-05-01T12:00:00.000Z'],
    ['5m', '2026-05-01T12:05:00.000Z'],
    ['1h30m', '2026-05-01T13:30:00.000Z'],
    ['90', '2026-05-01T12:01:30.000Z'],
    ['2026', '2026-05-01T12:33:46.000Z'],
    ['2026-03-01T09:00:00Z', '2026-03-01T09:00:00.000Z'],
    ['2026-03-01T09:00Z', '2026-03-01T09:00:00.000Z'],
    ['2026-03-01T09:00:00.250+02:00', '2026-03-01T07:00:00.250Z'],
    ['2026-03-01 09:00:00-0800', '2026-03-01T17:00:00.000Z'],
    ['2028-02-29T00:00Z', '2028-02-29T00:00:00.000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
  ])('%j is %s', (text, expected) => {
    expect(parseWhen(text, '--run-after', NOW).toISOString()).toBe(expected);
  });

  it('reads a time without a zone as this machine’s, as Date does', () => {
    expect(parseWhen('2026-03-01T09:00:00', '--since')).toEqual(new Date(2026, 2, 1, 9));
  });

  it.each([
    '',
    'soon',
    'tomorrow',
    '-5m',
    '5 parsecs',
    '2026-03',
    '2026-02-30',
    '2026-02-29T00:00Z',
    '2026-13-01',
    '2026-00-10',
    '2026-03-01T25:00Z',
    '2026-03-01T09:61Z',
    '2026-03-01 or so',
    '2026-03-01T09:00:00 (noon)',
    '+012026-03-01T00:00Z',
    '1 March 2026',
    '99999999999d',
  ])('%j is refused, with the flag and what to say instead', (text) => {
    expect(() => parseWhen(text, '--run-after', NOW)).toThrow(
      usage(`--run-after is ${JSON.stringify(text)}, which is neither a duration nor a time`),
    );
  });
});

describe('parseCount', () => {
  it.each([
    ['1', 1],
    ['007', 7],
    ['100000', 100_000],
  ])('%j is %i', (text, value) => {
    expect(parseCount(text, '--count')).toBe(value);
  });

  it.each(['', '0', '-1', '1.5', '1e3', '0x10', ' 1', 'many', '100001', '9'.repeat(40), '٣'])(
    '%j is refused, with the bounds',
    (text) => {
      expect(() => parseCount(text, '--count')).toThrow(
        usage(`--count is ${JSON.stringify(text)}: it must be a whole number from 1 to 100000`),
      );
    },
  );

  it('has other bounds on demand', () => {
    expect(parseCount('0', '--limit', 0, 5)).toBe(0);
    expect(() => parseCount('6', '--limit', 0, 5)).toThrow(usage(/from 0 to 5$/));
  });
});
