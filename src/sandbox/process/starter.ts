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

/** Monitors without work that are kept: as many as jobs run at once, most often. */
const MOST_IDLE = 16;

/**
 * Starts a warden when there is none alive; concurrent callers share it. Keeps monitors for the
 * next command: a new one costs two forks' time (measured: 4 to 20 ms of an attempt).
 */
export class WardenStarter implements Starter {
  readonly #start: () => Promise<Warden>;
  #warden: Promise<Warden> | undefined;
  #idle: Monitor[] = [];

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
    this.#idle = this.#idle.filter((each) => each.alive);
    const monitor = this.#idle.pop() ?? (await this.#newMonitor());
    return {
      launch: (launch, sinks) => {
        const launched = monitor.launch(launch, sinks);
        void launched.ended.then(() => this.#keep(monitor));
        return launched;
      },
      close: () => this.#keep(monitor),
    };
  }

  async stop(): Promise<void> {
    const warden = await this.#warden?.catch(() => undefined);
    await warden?.stop();
  }

  async #newMonitor(): Promise<Monitor> {
    const warden = await this.warden();
    try {
      return await Monitor.open(warden);
    } catch {
      // It died without our having been told yet. Nothing was sent: a new one may be asked.
      await warden.stop();
      return Monitor.open(await this.warden());
    }
  }

  #keep(monitor: Monitor): void {
    if (monitor.alive && this.#idle.length < MOST_IDLE) this.#idle.push(monitor);
    else monitor.close();
  }
}
