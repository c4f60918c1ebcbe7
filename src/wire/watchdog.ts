import type { RawOptions } from '../db/pglite-session.js';
import type { RawSession } from '../db/raw-session.js';

/** Why a statement was stopped: which of these comes first wins. */
export type Stopped = 'timeout' | 'cancel';

/**
 * Stops statements. Nothing can interrupt the engine's thread, so it is ended, as by a crash, and
 * opened again: what was committed is there.
 */
export class Watchdog {
  #running: RawSession | undefined;
  #stopped: Stopped | undefined;

  /** @param cannotStop is called instead where the database would be lost: one in memory. */
  constructor(
    private readonly inMemory: boolean,
    private readonly cannotStop: (why: Stopped) => void,
  ) {}

  get running(): boolean {
    return this.#running !== undefined;
  }

  /** Why the last statement ended with the engine, if it was stopped. */
  get stopped(): Stopped | undefined {
    return this.#stopped;
  }

  async send(
    raw: RawSession,
    bytes: Uint8Array,
    options: RawOptions & { limitMs: number },
  ): Promise<Uint8Array> {
    this.#stopped = undefined;
    this.#running = raw;
    const timer = setTimeout(() => this.stop('timeout'), options.limitMs);
    try {
      return await raw.send(bytes, options);
    } finally {
      clearTimeout(timer);
      this.#running = undefined;
    }
  }

  /** Cancels what runs now, unless it comes to its end within `graceMs`. */
  cancel(graceMs: number): void {
    const raw = this.#running;
    if (raw === undefined) return;
    setTimeout(() => {
      if (this.#running === raw) this.stop('cancel');
    }, graceMs);
  }

  stop(why: Stopped): void {
    const raw = this.#running;
    if (raw === undefined || this.#stopped !== undefined) return;
    if (this.inMemory) {
      this.cannotStop(why);
      return;
    }
    this.#stopped = why;
    void raw.kill(
      why === 'timeout' ? 'a statement ran over its limit' : 'a statement was cancelled',
    );
  }
}
