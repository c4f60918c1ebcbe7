import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '#src/clock.js';
import type { Drainer } from '#src/drain/drainer.js';
import { Wake, watchInserts } from '#src/drain/wake.js';

/** A wake whose ticks end when the test says so. */
function world() {
  const ends: (() => void)[] = [];
  let draining = false;
  let looked = 0;
  let paused = false;
  const wake = new Wake({
    drainer: () =>
      ({
        lookAgain: () => {
          if (draining) looked += 1;
          return draining;
        },
      }) as Drainer,
    tick: () => new Promise((resolve) => ends.push(resolve)),
    paused: () => paused,
  });
  return {
    wake,
    get ticks() {
      return ends.length;
    },
    get looked() {
      return looked;
    },
    drain: (is: boolean) => {
      draining = is;
    },
    pause: (is: boolean) => {
      paused = is;
    },
    /** Ends the tick under way. */
    end: async () => {
      ends.at(-1)!();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('inserts', () => {
  it('fire one tick, however many come before its drain begins', async () => {
    const it = world();
    for (let n = 0; n < 1_000; n += 1) it.wake.inserted();
    expect(it.ticks).toBe(1);
    await it.end();
    // Those that came after the first: it may have claimed before they were there.
    expect(it.ticks).toBe(2);
    await it.end();
    expect(it.ticks).toBe(2);
  });

  it('make a drain under way look again, and fire nothing', () => {
    const it = world();
    it.drain(true);
    for (let n = 0; n < 10; n += 1) it.wake.inserted();
    expect(it.looked).toBe(10);
    expect(it.ticks).toBe(0);
  });

  it('wait while the schedule is held', () => {
    const it = world();
    it.pause(true);
    it.wake.inserted();
    expect(it.ticks).toBe(0);
    it.pause(false);
    it.wake.inserted();
    expect(it.ticks).toBe(1);
  });
});

describe('a server’s table', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('is looked at twice a second, one look at a time, until it is stopped', async () => {
    let asked = 0;
    let answer: boolean | Error = false;
    let inserted = 0;
    const stop = watchInserts(
      new SystemClock(),
      async () => {
        asked += 1;
        if (answer instanceof Error) throw answer;
        return answer;
      },
      () => {
        inserted += 1;
      },
    );
    await vi.advanceTimersByTimeAsync(5_000);
    expect([asked, inserted]).toEqual([10, 0]);
    answer = true;
    await vi.advanceTimersByTimeAsync(500);
    expect(inserted).toBe(1);
    answer = new Error('away');
    await vi.advanceTimersByTimeAsync(500);
    answer = true;
    await vi.advanceTimersByTimeAsync(500);
    expect(inserted).toBe(2);
    stop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toBe(13);
  });

  it('is not looked at again when it was stopped during a look', async () => {
    let asked = 0;
    let answer = (_is: boolean) => {};
    const stop = watchInserts(
      new SystemClock(),
      () => {
        asked += 1;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      () => {},
    );
    await vi.advanceTimersByTimeAsync(500);
    stop();
    answer(true);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toBe(1);
  });
});
