import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '#src/job/duration.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('parseDuration', () => {
  it.each([
    ['90', 90_000],
    ['0', 0],
    ['0.25', 250],
    ['1.5s', 1_500],
    ['250ms', 250],
    ['5m', 5 * MINUTE],
    ['2h', 2 * HOUR],
    ['1d', DAY],
    ['1h30m', 1.5 * HOUR],
    ['1d2h3m4s5ms', DAY + 2 * HOUR + 3 * MINUTE + 4_005],
    ['  5m\n', 5 * MINUTE],
    ['2 min 5 s', 2 * MINUTE + 5_000],
    ['36525d', 36_525 * DAY],
  ])('reads %j', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    ' ',
    'soon',
    '-5s',
    '+5s',
    '5x',
    '5mm',
    '1h30',
    '30 1h',
    's',
    '.5s',
    '1.s',
    '1e3',
    '1,5s',
    '0x10',
    'Infinity',
    'NaN',
    '５s',
    '5s;',
    '5 \n s',
    '36526d',
    '9'.repeat(400),
    `${'9'.repeat(400)}s`,
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('adds up its parts', () => {
    const part = fc.tuple(fc.nat({ max: 999 }), fc.constantFrom('ms', 's', 'm', 'h', 'd'));
    const unit = { ms: 1, s: 1_000, m: MINUTE, h: HOUR, d: DAY } as Record<string, number>;
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const text = parts.map(([amount, name]) => `${amount}${name}`).join('');
        const sum = parts.reduce((total, [amount, name]) => total + amount * unit[name]!, 0);
        expect(parseDuration(text)).toBe(sum);
      }),
    );
  });

  it('never gives anything but whole milliseconds from 0 to a hundred years', () => {
    const text = fc.string({ unit: fc.constantFrom(...'0123456789.hdms in'.split('')) });
    fc.assert(
      fc.property(text, (given) => {
        const ms = parseDuration(given);
        if (ms === undefined) return;
        expect(Number.isSafeInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(36_525 * DAY);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is not slowed down by a long text', () => {
    expect(parseDuration(`${'1s'.repeat(500_000)}x`)).toBeUndefined();
    expect(parseDuration(`${'1'.repeat(1_000_000)}x`)).toBeUndefined();
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [-5, '0 ms'],
    [850.4, '850 ms'],
    [999.6, '1 s'],
    [1_000, '1 s'],
    [1_549, '1.5 s'],
    [59_999, '59.9 s'],
    [MINUTE, '1 min'],
    [125_000, '2 min 5 s'],
    [HOUR, '1 h'],
    [3 * HOUR + 10 * MINUTE + 59_000, '3 h 10 min'],
    [DAY + 5 * MINUTE, '1 d'],
    [2 * DAY + 4 * HOUR, '2 d 4 h'],
    [400 * DAY, '400 d'],
  ])('prints %d ms as %j', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('can be read back, less what two units cannot show', () => {
    fc.assert(
      fc.property(fc.nat({ max: 400 * DAY }), (ms) => {
        const back = parseDuration(formatDuration(ms))!;
        const shown =
          ms < 1_000 ? 1 : ms < MINUTE ? 100 : ms < HOUR ? 1_000 : ms < DAY ? MINUTE : HOUR;
        expect(back).toBe(Math.floor(ms / shown) * shown);
      }),
    );
  });
});
