import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type IdleSituation, watchIdle } from '#src/wire/idle-limit.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An idle transaction; what was said and done to it, with the time. */
function idle(situation: Partial<IdleSituation> = {}) {
  const seen: [string, number][] = [];
  const stop = watchIdle({
    ownMs: 0,
    limits: { warnAfterMs: 5_000, idleInTransactionMs: 30_000 },
    waiting: () => 0,
    warn: (ms) => seen.push(['warned', ms]),
    end: (ms) => seen.push(['ended', ms]),
    ...situation,
  });
  return { seen, stop };
}

it('leaves an idle transaction alone that nobody waits for', () => {
  const { seen, stop } = idle();
  vi.advanceTimersByTime(10 * 60_000);
  expect(seen).toEqual([]);
  stop();
  expect(vi.getTimerCount()).toBe(0);
});

it('warns once and then ends one that somebody waits for', () => {
  const { seen } = idle({ waiting: () => 1 });
  vi.advanceTimersByTime(60_000);
  expect(seen).toEqual([
    ['warned', 5_000],
    ['ended', 30_000],
  ]);
  expect(vi.getTimerCount()).toBe(0);
});

it('counts the time before somebody came', () => {
  let waiting = 0;
  const { seen } = idle({ waiting: () => waiting });
  vi.advanceTimersByTime(40_000);
  waiting = 1;
  vi.advanceTimersByTime(250);
  expect(seen).toEqual([['ended', 40_250]]);
});

it("ends one at its client's own limit, whoever waits", () => {
  const { seen } = idle({ ownMs: 50 });
  vi.advanceTimersByTime(50);
  expect(seen).toEqual([['ended', 50]]);
});
