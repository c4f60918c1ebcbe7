/** How an attempt's end is written: its job settled or given back, or found to be another's by now. */
import type { Clock } from '../clock.js';
import type { Database } from '../db/port.js';
import type { DrainCounts, Events } from '../events.js';
import { jitter, type RetryPolicy } from '../job/retry.js';
import type { Claim } from '../queue/claim.js';
import { release } from '../queue/release.js';
import { settle } from '../queue/settle.js';
import type { SandboxProvider } from '../sandbox/port.js';
import type { AttemptResult, RunningAttempt } from './attempt.js';
import { patiently } from './patience.js';
import { verdictOf } from './verdict.js';

/** A claim of this drainer whose attempt runs. */
export interface Held {
  claim: Claim;
  attempt: RunningAttempt;
  provider: SandboxProvider;
  startedAt: Date;
  /** Set when shutdown ends it: its claim is given back. */
  releasing: boolean;
}

export interface EndingOptions {
  db: Database;
  clock: Clock;
  events: Events;
  retryPolicy: RetryPolicy;
  /** Makes the jitter repeatable. */
  seed?: string | undefined;
  leaseMs: number;
  /** How long a result is kept for a database that is away; never longer than the lease. */
  patienceMs: number;
}

export class Endings {
  readonly #options: EndingOptions;
  readonly #signal: AbortSignal;

  /** @param signal ends the patience with a database that is away. */
  constructor(options: EndingOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** @throws when the database stays away for longer than the patience. */
  async write(held: Held, result: AttemptResult, counts: DrainCounts): Promise<void> {
    if (held.releasing && !result.ok) await this.#release(held, result);
    else await this.#settle(held, result, counts);
  }

  async #release({ claim: job }: Held, { outcome }: AttemptResult): Promise<void> {
    const { db, clock, events } = this.#options;
    const options = { id: job.id, claimId: job.claim_id };
    const owned = await this.#patiently(() => release(db, { ...options, now: clock.now() }));
    const at = clock.now();
    if (owned) events.emit('released', { at, job });
    else events.emit('superseded', { at, job, outcome });
  }

  async #settle(held: Held, result: AttemptResult, counts: DrainCounts): Promise<void> {
    const { db, clock, events, retryPolicy, seed } = this.#options;
    const { claim: job, provider } = held;
    const now = clock.now();
    const delayMs = retryPolicy(job.attempts, jitter(seed, job.id, job.attempts));
    const verdict = verdictOf(job, result, new Date(now.getTime() + delayMs));
    const settled = await this.#patiently(() => settle(db, verdict, { now }));
    const at = clock.now();
    if (!settled.owned) {
      events.emit('superseded', { at, job, outcome: result.outcome });
      return;
    }
    const status = settled.status!;
    counts[status === 'pending' ? 'retried' : status] += 1;
    events.emit('settled', {
      at,
      job,
      provider: provider.name,
      status,
      outcome: result.outcome,
      error: result.error,
      durationMs: result.durationMs,
      sandboxStartMs: result.sandboxStartMs,
      peakMemoryBytes: result.peakMemoryBytes,
      stdout: result.stdout.text,
      runAfter: status === 'pending' ? settled.run_after : undefined,
    });
  }

  /** What is kept longer than the lease may be another's by then. */
  #patiently<T>(work: () => Promise<T>): Promise<T> {
    const { patienceMs, leaseMs } = this.#options;
    return patiently(work, { forMs: Math.min(patienceMs, leaseMs), signal: this.#signal });
  }
}
