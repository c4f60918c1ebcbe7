import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, SystemClock, VirtualClock } from '#src/clock.js';

const START = new Date('2026-05-01T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const inMs = (ms: number) => new Date(START.getTime() + ms);

/** Sets an alarm that notes its name, and the clock's time, when it goes off. */
function alarm(clock: Clock, log: string[], name: string, ms: number): () => void {
  return clock.at(inMs(ms), () => {
    log.push(`${name} at ${clock.now().getTime() - START.getTime()}`);
  });
}

beforeEach(() => {
  vi.useFakeTimers({ now: START, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the system clock', () => {
  let clock: SystemClock;
  let log: string[];
  beforeEach(() => {
    clock = new SystemClock();
    log = [];
  });

  it('is this machine’s time until it is told the database’s', () => {
    expect(clock.now()).toEqual(START);
    clock.sync(inMs(2_500), START);
    expect(clock.now()).toEqual(inMs(2_500));
    clock.sync(inMs(-1_000));
    expect(clock.now()).toEqual(inMs(-1_000));
  });

  it('calls an alarm once, when its time has come', () => {
    alarm(clock, log, 'a', 40_000);
    vi.advanceTimersByTime(39_999);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(log).toEqual(['a at 40000']);
    clock.advance(HOUR);
    vi.advanceTimersByTime(HOUR);
    expect(log).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('calls an alarm of the past soon, but not at once', () => {
    alarm(clock, log, 'past', -HOUR);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(log).toHaveLength(1);
  });

  it('does not call an alarm before its time when a timer fires early (solid_queue 615)', () => {
    alarm(clock, log, 'a', 10_000);
    vi.setSystemTime(inMs(-2));
    vi.advanceTimersByTime(10_000);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(log).toEqual(['a at 10000']);
  });

  it('waits out a clock that was set back', () => {
    alarm(clock, log, 'a', 10_000);
    vi.advanceTimersByTime(5_000);
    vi.setSystemTime(inMs(-HOUR));
    vi.advanceTimersByTime(HOUR + 9_999);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(log).toEqual(['a at 10000']);
  });

  it('notices within seconds that the machine slept past an alarm (node-schedule 431)', () => {
    alarm(clock, log, 'a', HOUR);
    vi.setSystemTime(inMs(6 * HOUR));
    vi.advanceTimersByTime(15_000);
    expect(log).toEqual([`a at ${6 * HOUR + 15_000}`]);
  });

  it.each([2 ** 31, 2 ** 32 + 7, 2 ** 45])('holds a delay that no timer can: %i ms', (far) => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    alarm(clock, log, 'far', far);
    vi.advanceTimersByTime(MINUTE);
    expect(log).toEqual([]);
    // A timer that overflows fires after 1 ms, again and again.
    expect(timers.mock.calls.length).toBeLessThan(10);
    timers.mockRestore();
    vi.setSystemTime(inMs(far - 1));
    vi.advanceTimersByTime(0);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(15_000);
    expect(log).toHaveLength(1);
  });

  it('can be told to forget an alarm, also after it went off', () => {
    const cancel = alarm(clock, log, 'a', 1_000);
    cancel();
    cancel();
    expect(vi.getTimerCount()).toBe(0);
    const late = alarm(clock, log, 'b', 1_000);
    vi.advanceTimersByTime(1_000);
    late();
    vi.advanceTimersByTime(HOUR);
    expect(log).toEqual(['b at 1000']);
  });

  it('fast-forwards: what lies between falls due at once in its order, the rest comes nearer', () => {
    alarm(clock, log, 'third', 90 * MINUTE);
    alarm(clock, log, 'second', 50 * MINUTE);
    alarm(clock, log, 'first', 10 * MINUTE);
    clock.advance(HOUR);
    expect(clock.now()).toEqual(inMs(HOUR));
    expect(clock.offsetMs).toBe(HOUR);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(0);
    expect(log).toEqual([`first at ${HOUR}`, `second at ${HOUR}`]);
    vi.advanceTimersByTime(30 * MINUTE);
    expect(log.at(-1)).toBe(`third at ${90 * MINUTE}`);
  });

  it('adds up fast-forwards, and keeps them over a sync', () => {
    clock.advance(HOUR);
    clock.advance(0);
    clock.advance(30 * MINUTE);
    clock.sync(inMs(1_000), START);
    expect(clock.now()).toEqual(inMs(90 * MINUTE + 1_000));
    expect(clock.offsetMs).toBe(90 * MINUTE);
  });

  it('takes over a later database time for alarms that are set already', () => {
    alarm(clock, log, 'a', 10_000);
    clock.sync(inMs(9_000), START);
    vi.advanceTimersByTime(1_000);
    expect(log).toEqual(['a at 10000']);
  });

  it.each([-1, Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 1e16])(
    'refuses to advance by %d ms, and stays where it is',
    (ms) => {
      expect(() => clock.advance(ms)).toThrow(RangeError);
      expect(clock.now()).toEqual(START);
    },
  );
});

describe('the virtual clock', () => {
  let clock: VirtualClock;
  let log: string[];
  beforeEach(() => {
    clock = new VirtualClock(START);
    log = [];
  });

  it('stands still, whatever real time does', () => {
    alarm(clock, log, 'a', 1_000);
    vi.advanceTimersByTime(HOUR);
    expect(clock.now()).toEqual(START);
    expect(log).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('calls what lies on the way of a jump in its order, each at its own time', () => {
    alarm(clock, log, 'c', 3_000);
    alarm(clock, log, 'a', 1_000);
    alarm(clock, log, 'b', 2_000);
    alarm(clock, log, 'past', -1_000);
    clock.advanceTo(inMs(2_000));
    expect(log).toEqual(['past at 0', 'a at 1000', 'b at 2000']);
    expect(clock.now()).toEqual(inMs(2_000));
    clock.advanceTo(inMs(10_000));
    expect(log.at(-1)).toBe('c at 3000');
    expect(log).toHaveLength(4);
  });

  it('calls alarms in the order they were set when they share a time', () => {
    for (const name of ['a', 'b', 'c']) alarm(clock, log, name, 1_000);
    clock.advanceTo(inMs(1_000));
    expect(log).toEqual(['a at 1000', 'b at 1000', 'c at 1000']);
  });

  it('calls alarms that other alarms set on the way, and none that they took away', () => {
    const cancel = alarm(clock, log, 'gone', 3_000);
    clock.at(inMs(1_000), () => {
      cancel();
      alarm(clock, log, 'set', 2_000);
    });
    clock.advanceTo(inMs(5_000));
    expect(log).toEqual(['set at 2000']);
  });

  it('never goes back', () => {
    clock.advanceTo(inMs(5_000));
    clock.advanceTo(inMs(1_000));
    expect(clock.now()).toEqual(inMs(5_000));
  });

  it('runs along with real time while it flows, and keeps that when it stands', () => {
    clock.flow();
    vi.advanceTimersByTime(1_500);
    clock.flow();
    vi.advanceTimersByTime(500);
    expect(clock.now()).toEqual(inMs(2_000));
    clock.stand();
    vi.advanceTimersByTime(HOUR);
    clock.stand();
    expect(clock.now()).toEqual(inMs(2_000));
  });

  it('jumps to the time asked for also while it flows', () => {
    clock.flow();
    vi.advanceTimersByTime(1_000);
    clock.advanceTo(inMs(500));
    expect(clock.now()).toEqual(inMs(1_000));
    clock.advanceTo(inMs(5_000));
    expect(clock.now()).toEqual(inMs(5_000));
  });
});
