import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock, VirtualClock } from '#src/clock.js';
import { Cron } from '#src/drain/cron.js';
import { createSchedule } from '#src/schedule.js';

const START = new Date('2026-05-01T12:00:30Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('cron', () => {
  let clock: SystemClock;
  let cron: Cron;
  /** Cause and local time of each tick. */
  let ticks: string[];

  const make = (expression = '* * * * *') => {
    cron = new Cron(clock, createSchedule(expression, 'UTC'), (cause) => {
      ticks.push(`${cause} ${clock.now().toISOString().slice(11, 19)}`);
    });
    return cron;
  };

  beforeEach(() => {
    vi.useFakeTimers({ now: START, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    clock = new SystemClock();
    ticks = [];
  });
  afterEach(() => {
    cron?.stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('fires at each slot, once (firebase-tools 2034)', () => {
    make().start();
    expect(cron.next).toEqual(new Date('2026-05-01T12:01:00Z'));
    vi.advanceTimersByTime(3 * MINUTE);
    expect(ticks).toEqual(['schedule 12:01:00', 'schedule 12:02:00', 'schedule 12:03:00']);
    expect(cron.next).toEqual(new Date('2026-05-01T12:04:00Z'));
    vi.advanceTimersByTime(5 * HOUR);
    expect(new Set(ticks).size).toBe(ticks.length);
    expect(ticks).toHaveLength(3 + 5 * 60);
  });

  it('fires a slot once when its timer is early (solid_queue 615)', () => {
    make().start();
    vi.setSystemTime(START.getTime() - 2);
    vi.advanceTimersByTime(30_000);
    expect(ticks).toEqual([]);
    vi.advanceTimersByTime(30_000);
    expect(ticks).toEqual(['schedule 12:01:00']);
  });

  it('catches up six hours of sleep with one tick (node-schedule 431)', () => {
    make().start();
    vi.setSystemTime(START.getTime() + 6 * HOUR);
    vi.advanceTimersByTime(15_000);
    expect(ticks).toEqual(['catch-up 18:00:45']);
    vi.advanceTimersByTime(MINUTE);
    expect(ticks).toEqual(['catch-up 18:00:45', 'schedule 18:01:00']);
  });

  it('catches up a fast-forward with one tick', () => {
    make('*/5 * * * *').start();
    clock.advance(3 * HOUR);
    vi.advanceTimersByTime(1);
    expect(ticks).toEqual(['catch-up 15:00:30']);
    expect(cron.next).toEqual(new Date('2026-05-01T15:05:00Z'));
  });

  it('does not fire for a fast-forward that ends before the slot', () => {
    make('0 13 * * *').start();
    clock.advance(59 * MINUTE);
    vi.advanceTimersByTime(1);
    expect(ticks).toEqual([]);
    vi.advanceTimersByTime(MINUTE);
    expect(ticks).toEqual(['schedule 13:00:00']);
  });

  it.each([
    [4_000, 'schedule 12:01:04'],
    [6_000, 'catch-up 12:01:06'],
  ])('calls a tick that comes %i ms after its slot: %s', (late, tick) => {
    make().start();
    // The event loop was blocked: the timer fires, and the clock shows a later time.
    vi.advanceTimersByTime(29_999);
    vi.setSystemTime(START.getTime() + 29_999 + late);
    vi.advanceTimersByTime(1);
    expect(ticks).toEqual([tick]);
  });

  it('does not fire a slot twice when the clock is set back', () => {
    make().start();
    vi.advanceTimersByTime(30_000);
    expect(ticks).toEqual(['schedule 12:01:00']);
    vi.setSystemTime(new Date('2026-05-01T12:00:50Z'));
    vi.advanceTimersByTime(69_000);
    expect(ticks).toEqual(['schedule 12:01:00']);
    vi.advanceTimersByTime(1_000);
    expect(ticks).toEqual(['schedule 12:01:00', 'schedule 12:02:00']);
  });

  it('waits for a slot that is further away than a timer can hold', () => {
    make('0 0 1 9 *').start();
    const slot = new Date('2026-09-01T00:00:00Z');
    expect(cron.next).toEqual(slot);
    expect(slot.getTime() - START.getTime()).toBeGreaterThan(2 ** 31);
    vi.advanceTimersByTime(HOUR);
    expect(ticks).toEqual([]);
    vi.setSystemTime(slot.getTime() - 1_000);
    vi.advanceTimersByTime(15_000);
    expect(ticks).toEqual([expect.stringMatching(/^(schedule|catch-up) 00:00:/)]);
  });

  it('has stopped when it was stopped, also from inside a tick', () => {
    make().start();
    cron.stop();
    cron.stop();
    expect(cron.next).toBeUndefined();
    vi.advanceTimersByTime(HOUR);
    expect(ticks).toEqual([]);

    let count = 0;
    cron = new Cron(clock, createSchedule('* * * * *', 'UTC'), () => {
      count += 1;
      cron.stop();
    });
    cron.start();
    vi.advanceTimersByTime(HOUR);
    expect(count).toBe(1);
  });

  it('fires once a slot however often it is started, and again after a stop', () => {
    make().start();
    cron.start();
    vi.advanceTimersByTime(MINUTE);
    expect(ticks).toEqual(['schedule 12:01:00']);
    cron.stop();
    cron.start();
    vi.advanceTimersByTime(MINUTE);
    expect(ticks).toEqual(['schedule 12:01:00', 'schedule 12:02:00']);
  });

  it('does nothing with a schedule that has no slot', () => {
    make('0 0 31W 2 *').start();
    expect(cron.next).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fires on a virtual clock too, each slot of a jump in its turn', () => {
    const virtual = new VirtualClock(START);
    const seen: string[] = [];
    cron = new Cron(virtual, createSchedule('*/20 * * * *', 'UTC'), (cause) => {
      seen.push(`${cause} ${virtual.now().toISOString().slice(11, 16)}`);
    });
    cron.start();
    virtual.advanceTo(new Date('2026-05-01T13:00:00Z'));
    expect(seen).toEqual(['schedule 12:20', 'schedule 12:40', 'schedule 13:00']);
  });
});
