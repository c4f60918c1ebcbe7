import type { Clock } from '../clock.js';
import type { Database } from '../db/port.js';
import type { Claim } from '../queue/claim.js';
import { heartbeat } from '../queue/heartbeat.js';
import { patiently } from './patience.js';

export interface LeasesOptions {
  db: Database;
  clock: Clock;
  leaseMs: number;
  /** The claims whose attempts run here. */
  held: () => readonly Claim[];
  /** Told of an attempt that has lost its claim: it is to be killed. */
  onLost: (claimId: string) => Promise<void>;
}

/** Keeps the leases of the attempts that run here: renews them at a third of their length. */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #stopped = new AbortController();
  #cancel: (() => void) | undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Renews for as long as something is held. Idempotent; call it when something is. */
  keep(): void {
    const { clock, leaseMs, held } = this.#options;
    if (this.#cancel !== undefined || this.#stopped.signal.aborted) return;
    this.#cancel = clock.at(new Date(clock.now().getTime() + leaseMs / 3), () => {
      this.#cancel = undefined;
      if (held().length === 0) return;
      // A database that is away may be back before the next renewal is due, and what is left of the
      // lease be too short to wait for that one. Till the lease is over nothing is lost.
      patiently(() => this.renew(), { forMs: leaseMs / 3, signal: this.#stopped.signal }).catch(
        () => {},
      );
      this.keep();
    });
  }

  /** Renews all now. @throws JobqError `database-unreachable` */
  async renew(): Promise<void> {
    const { db, clock, held, onLost } = this.#options;
    const asked = held();
    if (asked.length === 0) return;
    const claims = asked.map(({ id, claim_id }) => ({ id, claimId: claim_id }));
    const kept = await heartbeat(db, { claims, now: clock.now() });
    for (const { claim_id } of asked) if (!kept.has(claim_id)) await onLost(claim_id);
  }

  stop(): void {
    this.#stopped.abort();
    this.#cancel?.();
  }
}
