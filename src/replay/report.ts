/** What a replay came to; the shape of `jobq-dev replay --json`. */

import type { EventMap, Events } from '../events.js';
import type { Status } from '../job/job.js';
import { headline } from '../job/text.js';

export interface Spread {
  p50: number;
  p95: number;
  max: number;
}

export interface KindReport {
  jobs: number;
  done: number;
  dead: number;
  attempts: number;
  retries: number;
  /** Virtual time from due to claimed, over all attempts. */
  pickup_ms: Spread;
  /** Real time in sandboxes. */
  sandbox_ms: number;
}

export interface Failure {
  id: string;
  /** The fixture's line. */
  line: number;
  kind: string;
  status: Status;
  attempts: number;
  error: string | null;
  /** What the line expected and did not get; absent for a job that died unexpected. */
  expected?: Record<string, unknown>;
}

export interface ErrorGroup {
  kind: string;
  /** The line of the error that says what is wrong, of the first of its like. */
  error: string;
  /** Attempts that ended so; numbers inside the text do not tell errors apart. */
  times: number;
  /** Whether a job died of it. */
  fatal: boolean;
}

export interface ReplayReport {
  fixture: string;
  jobs: number;
  done: number;
  dead: number;
  pending: number;
  running: number;
  attempts: number;
  retries: number;
  reaped: number;
  /** Whether it was stopped before its end: then nothing below says how the burst would end. */
  interrupted: boolean;
  /** From the burst's start to its last settle. */
  virtual_ms: number;
  wall_ms: number;
  pickup_ms: Spread;
  sandbox_ms: number;
  kinds: Record<string, KindReport>;
  errors: ErrorGroup[];
  /** Lines with an `expect`, and how many of them came out so. */
  expectations: { checked: number; met: number };
  /** Deaths that no line expected, and expectations that were not met. */
  failures: Failure[];
}

interface Tally {
  jobs: number;
  done: number;
  dead: number;
  attempts: number;
  retries: number;
  pickups: number[];
  sandboxMs: number;
}

/** Counts what happens while a burst is played. */
export class Recorder {
  readonly #kinds = new Map<string, Tally>();
  readonly #errors = new Map<string, ErrorGroup>();
  #reaped = 0;
  #lastSettled: Date | undefined;
  readonly #off: () => void;

  constructor(events: Events) {
    const onClaimed = (...[{ at, job }]: EventMap['claimed']) => {
      const tally = this.#tally(job.kind);
      tally.attempts += 1;
      tally.pickups.push(at.getTime() - job.run_after.getTime());
    };
    const onSettled = (...[event]: EventMap['settled']) => {
      const tally = this.#tally(event.job.kind);
      tally.sandboxMs += event.durationMs;
      this.#lastSettled = event.at;
      if (event.status === 'pending') tally.retries += 1;
      else tally[event.status] += 1;
      if (event.error !== null) this.#countError(event.job.kind, event.error, event.status);
    };
    const onReaped = (...[{ at, job }]: EventMap['reaped']) => {
      this.#reaped += 1;
      if (job.status !== 'dead') return;
      this.#tally(job.kind).dead += 1;
      this.#lastSettled = at;
    };
    events.on('claimed', onClaimed).on('settled', onSettled).on('reaped', onReaped);
    this.#off = () =>
      events.off('claimed', onClaimed).off('settled', onSettled).off('reaped', onReaped);
  }

  /** Counts jobs that arrived. */
  arrived(kind: string, count: number): void {
    this.#tally(kind).jobs += count;
  }

  get settled(): number {
    return [...this.#kinds.values()].reduce((sum, tally) => sum + tally.done + tally.dead, 0);
  }

  close(): void {
    this.#off();
  }

  /** The figures so far. `start` is the burst's start in virtual time. */
  summary(start: Date) {
    const all = [...this.#kinds.values()];
    const sum = (key: 'jobs' | 'done' | 'dead' | 'attempts' | 'retries' | 'sandboxMs') =>
      all.reduce((total, tally) => total + tally[key], 0);
    return {
      jobs: sum('jobs'),
      done: sum('done'),
      dead: sum('dead'),
      attempts: sum('attempts'),
      retries: sum('retries'),
      reaped: this.#reaped,
      virtual_ms: (this.#lastSettled ?? start).getTime() - start.getTime(),
      pickup_ms: spread(all.flatMap((tally) => tally.pickups)),
      sandbox_ms: Math.round(sum('sandboxMs')),
      kinds: Object.fromEntries(
        [...this.#kinds]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([kind, { pickups, sandboxMs, ...tally }]): [string, KindReport] => [
            kind,
            { ...tally, pickup_ms: spread(pickups), sandbox_ms: Math.round(sandboxMs) },
          ]),
      ),
      errors: [...this.#errors.values()].sort(
        (a, b) => Number(b.fatal) - Number(a.fatal) || b.times - a.times,
      ),
    };
  }

  #tally(kind: string): Tally {
    let tally = this.#kinds.get(kind);
    if (tally === undefined) {
      tally = { jobs: 0, done: 0, dead: 0, attempts: 0, retries: 0, pickups: [], sandboxMs: 0 };
      this.#kinds.set(kind, tally);
    }
    return tally;
  }

  #countError(kind: string, error: string, status: Status): void {
    const line = headline(error);
    const key = `${kind}\0${line.replace(/[0-9a-f]{7,}|\d+/g, '#')}`;
    const group = this.#errors.get(key) ?? { kind, error: line, times: 0, fatal: false };
    group.times += 1;
    group.fatal ||= status === 'dead';
    this.#errors.set(key, group);
  }
}

/** Nearest-rank percentiles. */
function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: rank(0.5), p95: rank(0.95), max: sorted.at(-1) ?? 0 };
}
