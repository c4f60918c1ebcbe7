import { describe, expect, it } from 'vitest';
import { countdown, figure, lasted, memory } from '#ui/text/figures.js';
import { bar, sparkline } from '#ui/text/meters.js';

describe('figures', () => {
  it.each([
    [42_000, '42s'],
    [41_900, '42s'],
    // The clocks of two programs are never quite the same.
    [42_100, '42s'],
    [125_000, '2m5s'],
    [0, 'now'],
    [-5_000, 'now'],
  ])('count down from %i ms as %s', (ms, shown) => {
    expect(countdown(ms)).toBe(shown);
  });

  it.each([
    [999, '0s'],
    [-20, '0s'],
    [61_500, '1m1s'],
    [90_061_000, '1d1h'],
  ])('say that %i ms have passed as %s', (ms, shown) => {
    expect(lasted(ms)).toBe(shown);
  });

  it('have their thousands apart, and memory in MiB', () => {
    expect(figure(1_234_567)).toBe('1,234,567');
    expect([memory(5.44 * 1024 ** 2), memory(512 * 1024 ** 2)]).toEqual(['5.4 MiB', '512 MiB']);
  });
});

describe('a sparkline', () => {
  it('is as high as its values, up to what is full', () => {
    expect(sparkline([0, 1, 50, 100, 400], 10, 100)).toBe('▁▂▅██');
  });

  it('shows the greatest of each share where there are more values than columns', () => {
    expect(sparkline([0, 100, 0, 0, 0, 50], 3, 100)).toBe('█▁▅');
    expect(sparkline([], 10, 100)).toBe('');
  });
});

describe('a bar', () => {
  it.each([
    [0, '──────────'],
    [0.05, '╸─────────'],
    [0.52, '━━━━━─────'],
    [1, '━━━━━━━━━━'],
    [7, '━━━━━━━━━━'],
    [-1, '──────────'],
  ])('that is %d full is %s', (fraction, shown) => {
    expect(bar(fraction, 10).join('')).toBe(shown);
  });
});
