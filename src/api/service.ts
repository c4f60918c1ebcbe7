/**
 * Everything that a command, a key or a request can ask of the queue. The HTTP routes are one way
 * in; a command that finds no emulator uses the same routes inside its own process.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { findHandler } from '../drain/handler.js';
import { JobqError } from '../errors.js';
import type { DrainCounts } from '../events.js';
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
import type { Explanation, Info, Overview, StreamEvent } from './contract.js';
import type { Control } from './control.js';
import { type LogsOptions, logs } from './logs.js';
import { info, overview } from './overview.js';
import type { ServiceOptions } from './service-options.js';

/** A stream of events says that it is alive so often. */
const KEEP_ALIVE_MS = 15_000;

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
    return this.world.control ?? noEmulator();
  }

  /** What Prometheus reads. @throws JobqError `conflict` where no emulator runs. */
  metrics(): Promise<{ type: string; text: string }> {
    return (this.world.metrics ?? noEmulator()).text();
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
      paused: this.world.control?.paused ?? false,
      noHandler: 'reason' in handler ? handler.reason : undefined,
      leaseMs,
    });
    return { id, status: job.status, reasons };
  }

  /** Everything that one look needs, and the event that it goes on from. */
  overview(): Promise<Overview> {
    return overview(this.world, () => this.stats());
  }

  get lastEventId(): string {
    return this.world.watch.log.lastId;
  }

  /** Batches of events; an empty one after a while in which nothing happened. */
  events(after: string, signal: AbortSignal): AsyncGenerator<StreamEvent[]> {
    return this.world.watch.log.follow({ after, signal, idleMs: KEEP_ALIVE_MS });
  }

  info(): Info {
    return info(this.world);
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

function noEmulator(): never {
  throw new JobqError(
    'conflict',
    'no emulator runs here',
    'It does this only while it runs: npx jobq-dev',
  );
}
