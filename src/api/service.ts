/**
 * Everything that a command, a key or a request can ask of the queue. The HTTP routes are one way
 * in; a command that finds no emulator uses the same routes inside its own process.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { SystemClock } from '../clock.js';
import type { Database } from '../db/port.js';
import type { Cron } from '../drain/cron.js';
import type { Drainer, Held } from '../drain/drainer.js';
import { findHandler, handlerExtensions, type Interpreters, knownKinds } from '../drain/handler.js';
import { JobqError } from '../errors.js';
import type { DrainCounts, Events } from '../events.js';
import { explain } from '../job/explain.js';
import type { Attempt, Job } from '../job/job.js';
import { type Arrival, type ArrivalFilter, arrivals } from '../queue/arrivals.js';
import { cancel } from '../queue/cancel.js';
import { type Changes, edit } from '../queue/edit.js';
import { enqueue, type NewJob } from '../queue/enqueue.js';
import { findJob } from '../queue/find.js';
import { showJob } from '../queue/inspect.js';
import { placeInLine } from '../queue/line.js';
import { lineage } from '../queue/lineage.js';
import { type JobFilter, listJobs, type Page } from '../queue/list.js';
import { countPrunable, type Keep, prune } from '../queue/prune.js';
import { retry, retryAll } from '../queue/retry.js';
import { type Stats, stats } from '../queue/stats.js';
import type { SandboxProvider } from '../sandbox/port.js';
import type { Explanation, Info, Overview, Running, StreamEvent } from './contract.js';
import type { Control } from './control.js';
import { jobLine } from './job-line.js';
import { type LogsOptions, logs } from './logs.js';
import type { Watch } from './watch.js';

/** A stream of events says that it is alive so often. */
const KEEP_ALIVE_MS = 15_000;

/** Where the emulator answers, as far as it does. */
export interface Addresses {
  http?: string;
  postgres?: string;
}

export interface ServiceOptions {
  db: Database;
  clock: SystemClock;
  events: Events;
  watch: Watch;
  drainer: () => Promise<Drainer>;
  /** The attempts that run here. */
  held: () => readonly Held[];
  /** The provider in use; undefined before anything was drained in a command of its own. */
  provider: () => SandboxProvider | undefined;
  /** The cron drainer, where one runs. */
  cron?: Cron;
  /** What steers it. */
  control?: Control;
  version: string;
  schedule: { expression: string; timezone: string };
  handlersDir: string;
  /** The outputs of jobs, each in a directory under its id. */
  outputRoot: string;
  interpreters: Interpreters;
  concurrency: number;
  timeoutMs: number;
  leaseMs: number;
  alertAgeMs: number;
  addresses: () => Addresses;
}

export class Service {
  constructor(private readonly world: ServiceOptions) {}

  get #paused(): boolean {
    return this.world.control?.paused ?? false;
  }

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

  list(filter: JobFilter): Promise<Page> {
    return listJobs(this.world.db, filter);
  }

  /** With what an attempt that runs here has written so far. */
  async show(id: string): Promise<Job & { attempts_log: Attempt[] }> {
    const live = this.world.watch.log.output.ofJob(id);
    const job = await showJob(this.world.db, id);
    for (const attempt of job.attempts_log) {
      const found = live.find(({ claimId }) => claimId === attempt.claim_id);
      if (attempt.outcome !== null || found === undefined) continue;
      attempt.stdout = found.stdout;
      attempt.stderr = found.stderr;
    }
    return job;
  }

  /** Pieces of text. @throws JobqError `not-found` */
  logs(id: string, options: LogsOptions): AsyncGenerator<string> {
    return logs(this.world.watch.log, () => this.show(id), options);
  }

  /** Jobs in the order in which they came, for a recording. */
  arrivals(filter: ArrivalFilter): Promise<Arrival[]> {
    return arrivals(this.world.db, filter);
  }

  lineage(id: string): Promise<Job[]> {
    return lineage(this.world.db, id);
  }

  async retry(id: string): Promise<Job> {
    return this.#changed(await retry(this.world.db, { id, now: this.#now }));
  }

  /** Every dead job, or every dead job of one kind. @returns how many. */
  async retryAll(kind: string | undefined): Promise<number> {
    const at = this.#now;
    const count = await retryAll(this.world.db, { kind, now: at });
    if (count > 0) this.world.events.emit('changed', { at, job: undefined, count });
    return count;
  }

  /** A running attempt is killed at once when it runs here. */
  async cancel(id: string): Promise<Job> {
    const { job, claimId } = await cancel(this.world.db, { id, now: this.#now });
    this.#changed(job);
    if (claimId !== undefined && this.world.cron !== undefined) {
      await (await this.world.drainer()).kill(claimId);
    }
    return job;
  }

  async edit(id: string, changes: Changes): Promise<Job> {
    return this.#changed(await edit(this.world.db, { id, changes, now: this.#now }));
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

  /** @throws JobqError `conflict` where no emulator runs. */
  get control(): Control {
    const { control } = this.world;
    if (control !== undefined) return control;
    throw new JobqError(
      'conflict',
      'no emulator runs here that could be steered',
      'Start it first: npx jobq-dev',
    );
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
      paused: this.#paused,
      noHandler: 'reason' in handler ? handler.reason : undefined,
      leaseMs,
    });
    return { id, status: job.status, reasons };
  }

  /** Everything that one look needs, and the event that it goes on from. */
  async overview(): Promise<Overview> {
    const { watch, handlersDir, interpreters } = this.world;
    const handler_kinds = await knownKinds(handlersDir, handlerExtensions(interpreters));
    // Taken together, before the rest: an event that is told again is better than one that is not.
    const event_id = watch.log.lastId;
    const running = this.running();
    const { next_run_after, ...stats } = await this.stats();
    return {
      info: this.info(),
      handler_kinds,
      stats: { ...stats, next_run_after: next_run_after?.toISOString() ?? null },
      running,
      history: watch.history.samples,
      event_id,
    };
  }

  get lastEventId(): string {
    return this.world.watch.log.lastId;
  }

  /** Batches of events; an empty one after a while in which nothing happened. */
  events(after: string, signal: AbortSignal): AsyncGenerator<StreamEvent[]> {
    return this.world.watch.log.follow({ after, signal, idleMs: KEEP_ALIVE_MS });
  }

  /** The attempts that run here, oldest first. */
  running(): Running[] {
    const { watch, held, timeoutMs } = this.world;
    return held().map(({ claim, provider, startedAt }) => ({
      job: jobLine(claim),
      claim_id: claim.claim_id,
      provider: provider.name,
      isolation: provider.enforces.isolation,
      started_at: startedAt.toISOString(),
      timeout_ms: timeoutMs,
      last_output: watch.log.output.lastLine(claim.claim_id),
    }));
  }

  info(): Info {
    const { db, clock, cron, version, schedule, handlersDir, concurrency } = this.world;
    const { timeoutMs, leaseMs, alertAgeMs } = this.world;
    const { http = null, postgres = null } = this.world.addresses();
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
      cron: { ...schedule, next_tick: cron?.next?.toISOString() ?? null, paused: this.#paused },
      concurrency,
      timeout_ms: timeoutMs,
      lease_ms: leaseMs,
      alert_age_ms: alertAgeMs,
      urls: { http, postgres },
      clock_offset_ms: clock.offsetMs,
      now: clock.now().toISOString(),
    };
  }

  /** @throws JobqError `database-unreachable` */
  async ready(): Promise<void> {
    await this.world.db.query('select 1');
  }

  #changed(job: Job): Job {
    this.world.events.emit('changed', { at: this.#now, job, count: 1 });
    return job;
  }
}
