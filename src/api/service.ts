/**
 * Everything that a command, a key or a request can ask of the queue. The HTTP routes are one way
 * in; a command that finds no emulator uses the same routes inside its own process.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { SystemClock } from '../clock.js';
import type { Database } from '../db/port.js';
import type { Cron } from '../drain/cron.js';
import type { Drainer } from '../drain/drainer.js';
import { findHandler, type Interpreters } from '../drain/handler.js';
import type { DrainCounts, Events } from '../events.js';
import { explain } from '../job/explain.js';
import type { Attempt, Job } from '../job/job.js';
import { type Arrival, type ArrivalFilter, arrivals } from '../queue/arrivals.js';
import { cancel } from '../queue/cancel.js';
import { type Changes, edit } from '../queue/edit.js';
import { enqueue, type NewJob } from '../queue/enqueue.js';
import { findJob } from '../queue/find.js';
import { type JobFilter, listJobs, showJob } from '../queue/inspect.js';
import { placeInLine } from '../queue/line.js';
import { countPrunable, type Keep, prune } from '../queue/prune.js';
import { retry, retryAll } from '../queue/retry.js';
import { type Stats, stats } from '../queue/stats.js';
import type { SandboxProvider } from '../sandbox/port.js';
import type { Explanation, Info } from './contract.js';

export interface ServiceOptions {
  db: Database;
  clock: SystemClock;
  events: Events;
  drainer: () => Promise<Drainer>;
  /** The provider in use; undefined before anything was drained in a command of its own. */
  provider: () => SandboxProvider | undefined;
  /** The cron drainer, where one runs. */
  cron?: Cron;
  version: string;
  schedule: { expression: string; timezone: string };
  handlersDir: string;
  /** The outputs of jobs, each in a directory under its id. */
  outputRoot: string;
  interpreters: Interpreters;
  concurrency: number;
  leaseMs: number;
}

export class Service {
  constructor(private readonly world: ServiceOptions) {}

  get #now(): Date {
    return this.world.clock.now();
  }

  /** @returns the new ids, in order. */
  async enqueue(jobs: readonly NewJob[]): Promise<string[]> {
    const at = this.#now;
    const ids = await enqueue(this.world.db, { jobs, now: at });
    this.world.events.emit('enqueued', { at, ids });
    return ids;
  }

  list(filter: JobFilter): Promise<Job[]> {
    return listJobs(this.world.db, filter);
  }

  show(id: string): Promise<Job & { attempts_log: Attempt[] }> {
    return showJob(this.world.db, id);
  }

  /** Jobs in the order in which they came, for a recording. */
  arrivals(filter: ArrivalFilter): Promise<Arrival[]> {
    return arrivals(this.world.db, filter);
  }

  retry(id: string): Promise<Job> {
    return retry(this.world.db, { id, now: this.#now });
  }

  retryAll(kind: string | undefined): Promise<number> {
    return retryAll(this.world.db, { kind, now: this.#now });
  }

  /** A running attempt is killed at once when it runs here. */
  async cancel(id: string): Promise<Job> {
    const { job, claimId } = await cancel(this.world.db, { id, now: this.#now });
    if (claimId !== undefined && this.world.cron !== undefined) {
      await (await this.world.drainer()).kill(claimId);
    }
    return job;
  }

  edit(id: string, changes: Changes): Promise<Job> {
    return edit(this.world.db, { id, changes, now: this.#now });
  }

  stats(options: { exact?: boolean } = {}): Promise<Stats> {
    return stats(this.world.db, { now: this.#now, ...options });
  }

  /**
   * Deletes done jobs; of a local database also what their handlers have written. A server's jobs
   * have left that on whichever machines ran them, where the same ids may be another database's.
   * @returns how many went; with `dryRun` how many would.
   */
  async prune(keep: Keep, { dryRun = false } = {}): Promise<number> {
    const { db, outputRoot } = this.world;
    const rule = { now: this.#now, keep };
    if (dryRun) return countPrunable(db, rule);
    const gone = await prune(db, rule);
    if (db.driver === 'pglite') {
      for (const id of gone) await rm(path.join(outputRoot, id), { recursive: true, force: true });
    }
    await db.maintain();
    return gone.length;
  }

  /** One tick by hand. */
  async drain(): Promise<DrainCounts> {
    return (await this.world.drainer()).tick('by hand');
  }

  async explain(id: string): Promise<Explanation> {
    const { db, cron, handlersDir, interpreters, concurrency, leaseMs } = this.world;
    const job = await findJob(db, id);
    const now = this.#now;
    const [place, handler] = await Promise.all([
      placeInLine(db, { job, now }),
      findHandler(handlersDir, job.kind, interpreters),
    ]);
    const reasons = explain(job, {
      now,
      ...place,
      concurrency,
      nextTick: cron?.next,
      paused: false,
      noHandler: 'reason' in handler ? handler.reason : undefined,
      leaseMs,
    });
    return { id, status: job.status, reasons };
  }

  info(): Info {
    const { db, clock, cron, version, schedule, handlersDir, concurrency } = this.world;
    const provider = this.world.provider();
    return {
      version,
      pid: process.pid,
      database: { driver: db.driver, location: db.location },
      sandbox: {
        provider: provider?.name ?? 'none yet',
        description: provider?.description ?? 'none yet',
        isolation: provider?.enforces.isolation ?? 'none',
      },
      handlers: handlersDir,
      cron: { ...schedule, next_tick: cron?.next?.toISOString() ?? null, paused: false },
      concurrency,
      clock_offset_ms: clock.offsetMs,
      now: clock.now().toISOString(),
    };
  }

  /** @throws JobqError `database-unreachable` */
  async ready(): Promise<void> {
    await this.world.db.query('select 1');
  }
}
