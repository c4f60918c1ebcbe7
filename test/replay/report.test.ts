import { describe, expect, it } from 'vitest';
import { type ClaimedJob, type EventMap, Events } from '#src/events.js';
import { Recorder } from '#src/replay/report.js';

const START = new Date('2026-05-01T12:00:00Z');
const inMs = (ms: number) => new Date(START.getTime() + ms);

const job = (more: Partial<ClaimedJob> = {}): ClaimedJob => ({
  id: '1',
  kind: 'work',
  payload: '{}',
  status: 'running',
  attempts: 1,
  max_attempts: 3,
  run_after: START,
  locked_at: START,
  last_error: null,
  created_at: START,
  claim_id: 'c',
  finished_at: null,
  parent_id: null,
  ...more,
});

/** A recorder, and the events of a drainer in short. */
function watched() {
  const events = new Events();
  const recorder = new Recorder(events);
  return {
    events,
    recorder,
    claimed: (ms: number, more: Partial<ClaimedJob> = {}) =>
      events.emit('claimed', {
        at: inMs(ms),
        job: job(more),
        provider: 'process',
        isolation: 'none',
        timeoutMs: 1_000,
      }),
    settled: (
      ms: number,
      status: EventMap['settled'][0]['status'],
      {
        error = null,
        durationMs = 10,
        ...more
      }: Partial<ClaimedJob> & {
        error?: string | null;
        durationMs?: number;
      } = {},
    ) =>
      events.emit('settled', {
        at: inMs(ms),
        job: job(more),
        provider: 'process',
        status,
        outcome: { kind: 'exited', code: error === null ? 0 : 1 },
        error,
        durationMs,
        sandboxStartMs: 3,
        peakMemoryBytes: undefined,
        stdout: '',
        runAfter: undefined,
      }),
    reaped: (ms: number, more: Partial<ClaimedJob>) =>
      events.emit('reaped', { at: inMs(ms), job: job(more), why: 'lease' }),
  };
}

describe('the recorder of a replay', () => {
  it('of nothing is zeros', () => {
    expect(watched().recorder.summary(START)).toEqual({
      jobs: 0,
      done: 0,
      dead: 0,
      attempts: 0,
      retries: 0,
      reaped: 0,
      virtual_ms: 0,
      pickup_ms: { p50: 0, p95: 0, max: 0 },
      sandbox_ms: 0,
      kinds: {},
      errors: [],
    });
  });

  it('counts jobs, attempts, retries and ends, in all and per kind', () => {
    const { recorder, claimed, settled } = watched();
    recorder.arrived('work', 2);
    recorder.arrived('mail', 1);
    claimed(60_000);
    settled(60_000, 'pending', { error: 'no luck', durationMs: 10.4 });
    claimed(240_000, { run_after: inMs(200_000) });
    settled(240_000, 'done', { durationMs: 20.4 });
    claimed(60_000, { id: '2' });
    settled(60_000, 'dead', { id: '2', error: 'no luck' });
    claimed(60_000, { id: '3', kind: 'mail' });
    settled(61_000, 'done', { id: '3', kind: 'mail', durationMs: 5 });
    expect(recorder.settled).toBe(3);
    expect(recorder.summary(START)).toEqual({
      jobs: 3,
      done: 2,
      dead: 1,
      attempts: 4,
      retries: 1,
      reaped: 0,
      virtual_ms: 61_000,
      pickup_ms: { p50: 60_000, p95: 60_000, max: 60_000 },
      sandbox_ms: 46,
      kinds: {
        mail: {
          jobs: 1,
          done: 1,
          dead: 0,
          attempts: 1,
          retries: 0,
          pickup_ms: { p50: 60_000, p95: 60_000, max: 60_000 },
          sandbox_ms: 5,
        },
        work: {
          jobs: 2,
          done: 1,
          dead: 1,
          attempts: 3,
          retries: 1,
          pickup_ms: { p50: 60_000, p95: 60_000, max: 60_000 },
          sandbox_ms: 41,
        },
      },
      errors: [{ kind: 'work', error: 'no luck', times: 2, fatal: true }],
    });
  });

  it('counts what the reaper did; only a death settles a job', () => {
    const { recorder, claimed, reaped } = watched();
    recorder.arrived('work', 2);
    claimed(0);
    claimed(0, { id: '2' });
    reaped(1_800_000, { status: 'pending' });
    expect(recorder.settled).toBe(0);
    reaped(1_860_000, { id: '2', status: 'dead' });
    expect(recorder.settled).toBe(1);
    expect(recorder.summary(START)).toMatchObject({
      reaped: 2,
      dead: 1,
      retries: 0,
      attempts: 2,
      virtual_ms: 1_860_000,
    });
  });

  it.each([
    [[7], { p50: 7, p95: 7, max: 7 }],
    [[2, 1], { p50: 1, p95: 2, max: 2 }],
    [Array.from({ length: 100 }, (_none, index) => 100 - index), { p50: 50, p95: 95, max: 100 }],
    [[9, 10, 100, 1_000], { p50: 10, p95: 1_000, max: 1_000 }],
  ])('spreads the waits %j by nearest rank', (waits, expected) => {
    const { recorder, claimed } = watched();
    for (const wait of waits) claimed(wait);
    expect(recorder.summary(START).pickup_ms).toEqual(expected);
  });

  it('sorts kinds by name, and takes any name for one', () => {
    const { recorder } = watched();
    for (const kind of ['b', '__proto__', 'a', 'constructor', '支払い']) recorder.arrived(kind, 1);
    const { kinds, jobs } = recorder.summary(START);
    expect(Object.keys(kinds)).toEqual(['__proto__', 'a', 'b', 'constructor', '支払い']);
    expect(jobs).toBe(5);
    expect(Object.keys(JSON.parse(JSON.stringify(kinds)))).toHaveLength(5);
  });

  it('groups errors by the line that says what is wrong, whatever its numbers, deaths first', () => {
    const { recorder, settled } = watched();
    settled(1, 'pending', { error: 'timed out after 3 s' });
    settled(2, 'pending', { error: 'timed out after 17 s' });
    settled(3, 'pending', { error: 'no commit 8f3c2d19ab' });
    settled(4, 'pending', { error: 'no commit 11ac0ffee2' });
    settled(5, 'pending', { error: 'no commit 0000000' });
    settled(6, 'pending', { kind: 'mail', error: 'timed out after 3 s' });
    settled(7, 'dead', {
      error: 'Traceback (most recent call last):\n  File "x", line 1\nKeyError: 1',
    });
    expect(recorder.summary(START).errors).toEqual([
      { kind: 'work', error: 'KeyError: 1', times: 1, fatal: true },
      { kind: 'work', error: 'no commit 8f3c2d19ab', times: 3, fatal: false },
      { kind: 'work', error: 'timed out after 3 s', times: 2, fatal: false },
      { kind: 'mail', error: 'timed out after 3 s', times: 1, fatal: false },
    ]);
  });

  it('is done when closed: later events change nothing, and nothing is left listening', () => {
    const { events, recorder, claimed, settled } = watched();
    recorder.arrived('work', 1);
    recorder.close();
    claimed(1);
    settled(1, 'done');
    expect(recorder.settled).toBe(0);
    expect(events.eventNames()).toEqual([]);
  });
});
