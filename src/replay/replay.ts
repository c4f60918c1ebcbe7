/**
 * Replays a burst on a virtual clock. Time stands still while attempts run and jumps to the next
 * arrival, or to the next tick that has something to do, when all are settled; so the same file,
 * seed and handlers give the same counts and the same virtual times.
 */
import type { VirtualClock } from '../clock.js';
import type { Database } from '../db/port.js';
import type { Drainer } from '../drain/drainer.js';
import { JobqError } from '../errors.js';
import type { Events } from '../events.js';
import { deadJobs, type End, endsOf } from '../queue/ends.js';
import { nextDue } from '../queue/next-due.js';
import { stats } from '../queue/stats.js';
import type { Schedule } from '../schedule.js';
import { Burst } from './burst.js';
import type { Expectation } from './fixture.js';
import { type Failure, Recorder, type ReplayReport } from './report.js';

export interface ReplayOptions {
  fixture: string;
  /** Empty, migrated, and used by nobody else. */
  db: Database;
  clock: VirtualClock;
  events: Events;
  schedule: Schedule;
  /** Drains on `clock`; `beforeClaim` is to call `arrive`. */
  makeDrainer: (beforeClaim: () => Promise<void>) => Drainer;
  /**
   * `standing`: attempts take no virtual time. `measured`: the time that they really take counts,
   * for a forecast of production.
   */
  timing: 'standing' | 'measured';
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

export interface Progress {
  settled: number;
  /** Since the burst's start. */
  virtualMs: number;
}

/** How many failures a report names. */
const FAILURES_SHOWN = 1_000;

/**
 * Plays the fixture to its end: nothing pending, nothing running, nothing left to arrive.
 * @throws JobqError `config` when the schedule never fires again while jobs wait.
 */
export async function replay(options: ReplayOptions): Promise<ReplayReport> {
  const { fixture, db, clock, events, schedule, timing, signal } = options;
  // The burst starts the moment after a tick: the longest wait that production can give it.
  const start = clock.now();
  const startedAt = performance.now();
  const recorder = new Recorder(events);
  const burst = await Burst.open(fixture, start);
  const arrive = () => burst.arrive(db, clock, (kind, count) => recorder.arrived(kind, count));
  const drainer = options.makeDrainer(arrive);
  const report = () =>
    options.onProgress?.({
      settled: recorder.settled,
      virtualMs: clock.now().getTime() - start.getTime(),
    });
  events.on('settled', report);
  const onAbort = () => void drainer.stop({ graceMs: 0 });
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    while (signal?.aborted !== true) {
      await arrive();
      const moment = await nextMoment(burst, db, clock, schedule);
      if (moment === undefined) break;
      clock.advanceTo(moment.at);
      await arrive();
      if (!moment.isTick) continue;
      if (timing === 'measured') clock.flow();
      await drainer.tick('schedule');
      clock.stand();
      await db.maintain();
    }
    const { counts } = await stats(db, { now: clock.now(), exact: true });
    return {
      fixture,
      ...recorder.summary(start),
      pending: counts.pending,
      running: counts.running,
      interrupted: signal?.aborted === true,
      wall_ms: Math.round(performance.now() - startedAt),
      ...(await judge(burst, db)),
    };
  } finally {
    signal?.removeEventListener('abort', onAbort);
    events.off('settled', report);
    recorder.close();
    await burst.close();
    await drainer.stop({ graceMs: 0 });
  }
}

/** What comes next: an arrival, or the first tick at which something will be due. */
async function nextMoment(
  burst: Burst,
  db: Database,
  clock: VirtualClock,
  schedule: Schedule,
): Promise<{ at: Date; isTick: boolean } | undefined> {
  const now = clock.now();
  const arrival = burst.nextArrival;
  const dueAt = await nextDue(db);
  if (dueAt === undefined) return arrival && { at: arrival, isTick: false };
  const tick = schedule.next(dueAt > now ? new Date(dueAt.getTime() - 1) : now);
  if (tick === undefined && arrival === undefined) {
    throw new JobqError(
      'config',
      `jobs are waiting, but the schedule "${schedule.expression}" never fires again`,
      'Give a schedule that does: --cron "* * * * *".',
    );
  }
  if (tick === undefined || (arrival !== undefined && arrival <= tick)) {
    return { at: arrival!, isTick: false };
  }
  return { at: tick, isTick: true };
}

/** Compares how the jobs ended with what their lines expected. */
async function judge(
  burst: Burst,
  db: Database,
): Promise<Pick<ReplayReport, 'expectations' | 'failures'>> {
  const failures: Failure[] = [];
  let met = 0;
  const ids = [...burst.expected.keys()];
  for (let from = 0; from < ids.length; from += 500) {
    for (const end of await endsOf(db, ids.slice(from, from + 500))) {
      const { line, expect } = burst.expected.get(end.id)!;
      const expected = unmet(end, expect);
      if (expected === undefined) met += 1;
      else failures.push(failure(end, line, expected));
    }
  }
  for (const end of await deadJobs(db)) {
    if (!burst.expected.has(end.id)) failures.push(failure(end, burst.lineOf(end.id)));
  }
  return {
    expectations: { checked: ids.length, met },
    failures: failures.sort((a, b) => a.line - b.line).slice(0, FAILURES_SHOWN),
  };
}

/** What of `expect` did not come out; undefined when all did. */
function unmet(end: End, expect: Expectation): Record<string, unknown> | undefined {
  const missed: Record<string, unknown> = {};
  if (expect.status !== undefined && expect.status !== end.status) missed.status = expect.status;
  if (expect.attempts !== undefined && expect.attempts !== end.attempts) {
    missed.attempts = expect.attempts;
  }
  if (expect.stdout !== undefined && !end.stdout?.includes(expect.stdout)) {
    missed.stdout = expect.stdout;
  }
  if (expect.error !== undefined && !end.last_error?.includes(expect.error)) {
    missed.error = expect.error;
  }
  return Object.keys(missed).length === 0 ? undefined : missed;
}

function failure(end: End, line: number, expected?: Record<string, unknown>): Failure {
  return {
    id: end.id,
    line,
    kind: end.kind,
    status: end.status,
    attempts: end.attempts,
    error: end.last_error,
    ...(expected === undefined ? {} : { expected }),
  };
}
