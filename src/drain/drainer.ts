/**
 * The drainer: reap, then claim, run and settle until nothing is due. One tick is what a cron job
 * runs in production.
 */

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { DrainCounts, TickCause } from '../events.js';
import { type Claim, claim } from '../queue/claim.js';
import { reap } from '../queue/reap.js';
import type { SandboxProvider } from '../sandbox/port.js';
import { type AttemptSettings, startAttempt } from './attempt.js';
import { type EndingOptions, Endings, type Held } from './endings.js';
import { Leases } from './leases.js';
import { unlessAborted } from './patience.js';

/** How long a stop waits, after the last attempt has ended, for a database that is away. */
const LAST_PATIENCE_MS = 2_000;

export interface DrainerOptions extends EndingOptions {
  /** Asked before each claim, so that a swap affects the next attempt, never a running one. */
  provider: () => SandboxProvider;
  attempt: AttemptSettings;
  /** Rows claimed by one statement, at most. */
  batch: number;
  /** Attempts that run at a time. */
  concurrency: number;
  /** Called before each claim: replay puts in what has arrived. */
  beforeClaim?: () => Promise<void>;
}

interface Drain {
  counts: DrainCounts;
  over: Promise<void>;
  /** It claims no more; what runs ends. */
  held: boolean;
}

export class Drainer {
  readonly #options: DrainerOptions;
  readonly #held = new Map<string, Held>();
  readonly #ticks = new Set<Promise<DrainCounts>>();
  #drain: Drain | undefined;
  #stopping = false;
  /** Something may have become due since the last claim found nothing. */
  #lookAgain = false;
  #wake: () => void = () => {};
  /** Why nothing is claimed until the next tick. */
  #failure: unknown;
  /** The provider that a claim under way will start in. */
  #claimingFor: SandboxProvider | undefined;
  #unused = new Set<() => void>();
  readonly #leases: Leases;
  readonly #endings: Endings;
  readonly #givingUp = new AbortController();

  constructor(options: DrainerOptions) {
    this.#options = options;
    // Each attempt that settles listens: with many at a time that is no leak.
    setMaxListeners(0, this.#givingUp.signal);
    const { db, clock, leaseMs } = options;
    this.#leases = new Leases({
      db,
      clock,
      leaseMs,
      held: () => this.held.map(({ claim }) => claim),
      onLost: (claimId) => this.kill(claimId),
    });
    this.#endings = new Endings(options, this.#givingUp.signal);
  }

  /** The attempts that run now. */
  get held(): readonly Held[] {
    return [...this.#held.values()];
  }

  /**
   * Reaps, then drains until nothing is due. A tick that comes while a drain is under way reaps,
   * makes that drain look again, and shares its end.
   * @returns what the whole drain came to.
   * @throws JobqError `database-unreachable` after the attempts under way have ended, unless a later
   *   tick found the database back.
   */
  async tick(cause: TickCause, lateMs?: number): Promise<DrainCounts> {
    const tick = this.#tick(cause, lateMs);
    this.#ticks.add(tick);
    try {
      return await tick;
    } finally {
      this.#ticks.delete(tick);
    }
  }

  async #tick(cause: TickCause, lateMs: number | undefined): Promise<DrainCounts> {
    const { db, clock, events, leaseMs } = this.#options;
    const { signal } = this.#givingUp;
    const at = clock.now();
    events.emit('tick', { at, cause, lateMs });
    // After a sleep or a fast-forward our own leases look old though their attempts run.
    await unlessAborted(this.#leases.renew(), signal);
    const reaped = await unlessAborted(reap(db, { now: clock.now(), leaseMs }), signal);
    for (const { job, why } of reaped) events.emit('reaped', { at, job, why });

    const drain = this.#stopping ? this.#drain : (this.#drain ?? this.#startDrain());
    if (drain === undefined) return { ...NONE, reaped: reaped.length };
    drain.held = false;
    drain.counts.reaped += reaped.length;
    drain.counts.dead += reaped.filter(({ job }) => job.status === 'dead').length;
    // The database has answered: a drain that still waits for its attempts goes on claiming.
    this.#failure = undefined;
    this.lookAgain();
    await drain.over;
    return drain.counts;
  }

  /**
   * Stops claiming, lets attempts end for `graceMs`, then kills the rest and gives their claims
   * back. May be called again with less grace. A database that is away does not hold it up for long:
   * what it cannot be told is reaped after the lease.
   */
  async stop({ graceMs }: { graceMs: number }): Promise<void> {
    this.#stopping = true;
    this.#wake();
    const ended = Promise.allSettled(this.#ticks);
    const abort = new AbortController();
    await Promise.race([
      ended,
      delay(graceMs, undefined, { signal: abort.signal }).catch(() => {}),
    ]);
    abort.abort();
    for (const held of this.#held.values()) {
      held.releasing = true;
      void held.attempt.kill();
    }
    await Promise.allSettled(this.held.map(({ attempt }) => attempt.result));
    const giveUp = setTimeout(() => this.#givingUp.abort(), LAST_PATIENCE_MS);
    await ended;
    clearTimeout(giveUp);
    this.#leases.stop();
  }

  /**
   * Something may have become due: a drain under way claims again where it has slots free.
   * @returns whether one is under way.
   */
  lookAgain(): boolean {
    if (this.#drain === undefined) return false;
    this.#lookAgain = true;
    this.#wake();
    return true;
  }

  /** Lets a drain under way end with what runs now; the next tick claims again. */
  hold(): void {
    if (this.#drain !== undefined) this.#drain.held = true;
    this.#wake();
  }

  /** Resolves when nothing runs in this provider, and nothing is about to. */
  async unused(provider: SandboxProvider): Promise<void> {
    const isUsed = () =>
      this.#claimingFor === provider || this.held.some((held) => held.provider === provider);
    while (isUsed()) await new Promise<void>((resolve) => this.#unused.add(resolve));
  }

  /** Kills the attempt of a claim that was taken away (cancelled). */
  async kill(claimId: string): Promise<void> {
    await this.#held.get(claimId)?.attempt.kill();
  }

  #startDrain(): Drain {
    const counts = { ...NONE };
    const over = this.#drainAll(counts);
    over.catch(() => {});
    this.#drain = { counts, over, held: false };
    return this.#drain;
  }

  async #drainAll(counts: DrainCounts): Promise<void> {
    const { clock, events } = this.#options;
    this.#failure = undefined;
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#lookAgain = false;
      if (await this.#fill(counts)) continue;
      if (this.#held.size > 0) await woken;
      else if (!this.#lookAgain || !this.#mayClaim) break;
    }
    // At once: whoever asks from here on to look again must find no drain that would not.
    this.#drain = undefined;
    events.emit('drained', { at: clock.now(), counts });
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * Claims for the free slots and starts what it got. Never more than there are free slots: a
   * claim is a start.
   * @returns whether there may be more to claim at once.
   */
  async #fill(counts: DrainCounts): Promise<boolean> {
    const { db, clock, batch, concurrency, beforeClaim } = this.#options;
    const limit = Math.min(batch, concurrency - this.#held.size);
    if (!this.#mayClaim || limit < 1) return false;
    try {
      await beforeClaim?.();
      const provider = this.#options.provider();
      this.#claimingFor = provider;
      const claiming = claim(db, {
        limit,
        now: clock.now(),
        provider: provider.name,
        isolation: provider.enforces.isolation,
      });
      const claims = await unlessAborted(claiming, this.#givingUp.signal);
      counts.claimed += claims.length;
      for (const claimed of claims) this.#start(claimed, provider, counts);
      return claims.length === limit && this.#held.size < concurrency;
    } catch (error) {
      this.#failure = error;
      return false;
    } finally {
      this.#claimingFor = undefined;
      this.#tellUnused();
    }
  }

  get #mayClaim(): boolean {
    return !this.#stopping && this.#failure === undefined && this.#drain?.held !== true;
  }

  #tellUnused(): void {
    for (const look of this.#unused) look();
    this.#unused.clear();
  }

  #start(claimed: Claim, provider: SandboxProvider, counts: DrainCounts): void {
    const { clock, events, attempt: settings } = this.#options;
    const startedAt = clock.now();
    events.emit('claimed', {
      at: startedAt,
      job: claimed,
      provider: provider.name,
      isolation: provider.enforces.isolation,
      timeoutMs: settings.timeoutMs,
    });
    const attempt = startAttempt(claimed, provider, settings, (stream, text) =>
      events.emit('output', { job: claimed, stream, text }),
    );
    const held: Held = { claim: claimed, attempt, provider, startedAt, releasing: false };
    this.#held.set(claimed.claim_id, held);
    // Claimed while shutdown began: give it back like the others.
    if (this.#stopping) {
      held.releasing = true;
      void attempt.kill();
    }
    this.#leases.keep();
    void this.#finish(held, counts);
  }

  /** Waits for the attempt, then settles or releases its job. Never throws. */
  async #finish(held: Held, counts: DrainCounts): Promise<void> {
    const { claim: job } = held;
    try {
      await this.#endings.write(held, await held.attempt.result, counts);
    } catch (error) {
      this.#failure ??= error;
      this.#options.events.emit('warning', {
        message: `how job ${job.id} ended could not be written: ${(error as Error).message}; its claim runs out with the lease`,
      });
    } finally {
      this.#held.delete(job.claim_id);
      this.#tellUnused();
      this.#wake();
    }
  }
}

const NONE: DrainCounts = { claimed: 0, done: 0, retried: 0, dead: 0, reaped: 0 };
