import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jitter, RETRY_CEILING_MS, RETRY_POLICIES } from '#src/job/retry.js';

const attempts = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  fc.constant(2 ** 31),
);
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe.each(Object.entries(RETRY_POLICIES))('the retry policy %s', (_name, delay) => {
  it('is a whole number of milliseconds above 0 and never above 24 h', () => {
    fc.assert(
      fc.property(attempts, random, (used, drawn) => {
        const ms = delay(used, drawn);
        expect(Number.isSafeInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThan(0);
        expect(ms).toBeLessThanOrEqual(RETRY_CEILING_MS);
      }),
    );
  });

  it('waits longer after each failure, whatever is drawn, until the ceiling', () => {
    fc.assert(
      fc.property(attempts, random, random, (used, first, second) => {
        const before = delay(used, first);
        const after = delay(used + 1, second);
        if (before < RETRY_CEILING_MS) expect(after).toBeGreaterThan(before);
        else expect(after).toBe(RETRY_CEILING_MS);
      }),
    );
  });
});

describe('the documented delays', () => {
  it.each([
    ['minutes', 1, 0, 120_000],
    ['minutes', 1, 0.5, 135_000],
    ['minutes', 3, 0, 480_000],
    ['minutes', 10, 0, 61_440_000],
    ['minutes', 11, 0, RETRY_CEILING_MS],
    ['seconds', 1, 0, 5_000],
    ['seconds', 1, 0.5, 5_500],
    ['seconds', 4, 0, 40_000],
    ['seconds', 16, 0, RETRY_CEILING_MS],
  ] as const)('%s after attempt %i with %d drawn: %i ms', (policy, used, drawn, ms) => {
    expect(RETRY_POLICIES[policy](used, drawn)).toBe(ms);
  });

  it('has a ceiling of 24 hours', () => {
    expect(RETRY_CEILING_MS).toBe(86_400_000);
  });
});

describe('jitter', () => {
  const key = fc.tuple(
    fc.string(),
    fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String),
    fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  );

  it('is in [0, 1) and the same for the same seed, job and attempt', () => {
    fc.assert(
      fc.property(key, (drawn) => {
        const value = jitter(...drawn);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThan(1);
        expect(jitter(...drawn)).toBe(value);
      }),
    );
  });

  it('differs by seed, by job and by attempt', () => {
    const base = jitter('seed', '1', 1);
    for (const other of [
      jitter('other', '1', 1),
      jitter('seed', '2', 1),
      jitter('seed', '1', 2),
      jitter('seed', '11', 1),
    ]) {
      expect(other).not.toBe(base);
    }
  });

  it('is spread evenly over jobs', () => {
    const tenths = new Array<number>(10).fill(0);
    for (let job = 0; job < 10_000; job += 1) {
      tenths[Math.floor(jitter('seed', String(job), 1) * 10)]! += 1;
    }
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it('is random without a seed', () => {
    expect(new Set(Array.from({ length: 20 }, () => jitter(undefined, '1', 1))).size).toBe(20);
  });
});
