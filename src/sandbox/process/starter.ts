/** What starts commands: the warden where it can be had, else jobq-dev itself. */
import { launchDirectly } from './direct.js';
import type { Launch, Launched, Sinks } from './launch.js';
import { Monitor } from './monitor.js';
import type { Warden } from './warden.js';

/** A place where one command can be started. */
export interface Slot {
  launch(launch: Launch, sinks: Sinks): Launched;
  /** Lets go of a slot that was not used. */
  close(): void;
}

export interface Starter {
  open(): Promise<Slot>;
  /** Ends all that it started. Idempotent. */
  stop(): Promise<void>;
}

export const directStarter: Starter = {
  open: async () => ({ launch: launchDirectly, close: () => {} }),
  stop: async () => {},
};

/** Starts a warden when there is none alive; concurrent callers share it. */
export class WardenStarter implements Starter {
  readonly #start: () => Promise<Warden>;
  #warden: Promise<Warden> | undefined;

  constructor(start: () => Promise<Warden>) {
    this.#start = start;
  }

  /** @throws Error when no warden can be started. */
  async warden(): Promise<Warden> {
    const current = this.#warden;
    const usable = await current?.then((warden) => warden.alive).catch(() => false);
    // Only who still sees the dead one replaces it; the others take the replacement.
    if (!usable && this.#warden === current) this.#warden = this.#start();
    return this.#warden!;
  }

  async open(): Promise<Slot> {
    const warden = await this.warden();
    try {
      return await Monitor.open(warden);
    } catch {
      // It died without our having been told yet. Nothing was sent: a new one may be asked.
      await warden.stop();
      return Monitor.open(await this.warden());
    }
  }

  async stop(): Promise<void> {
    const warden = await this.#warden?.catch(() => undefined);
    await warden?.stop();
  }
}
