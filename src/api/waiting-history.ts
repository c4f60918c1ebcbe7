import type { Clock } from '../clock.js';
import type { Queryable } from '../db/port.js';
import { oldestWaitingMs } from '../queue/oldest-waiting.js';
import type { WaitingSample } from './contract.js';

const EVERY_MS = 60_000;
const KEPT_MS = 3_600_000;

/** The age of the oldest waiting job, a sample a minute for the last hour, in memory. */
export class WaitingHistory {
  #samples: { at: Date; oldest_waiting_ms: number | null }[] = [];
  #cancel: (() => void) | undefined;

  constructor(
    private readonly db: Queryable,
    private readonly clock: Clock,
  ) {}

  /** Oldest first. */
  get samples(): WaitingSample[] {
    this.#forget();
    return this.#samples.map(({ at, ...sample }) => ({ at: at.toISOString(), ...sample }));
  }

  start(): void {
    this.stop();
    const next = new Date(this.clock.now().getTime() + EVERY_MS);
    this.#cancel = this.clock.at(next, () => this.start());
    // A database that is away leaves a gap; who needs it says so.
    this.sample().catch(() => {});
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async sample(): Promise<void> {
    const at = this.clock.now();
    const oldest_waiting_ms = await oldestWaitingMs(this.db, { now: at });
    this.#samples.push({ at, oldest_waiting_ms });
    this.#forget();
  }

  #forget(): void {
    const since = this.clock.now().getTime() - KEPT_MS;
    this.#samples = this.#samples.filter(({ at }) => at.getTime() > since);
  }
}
