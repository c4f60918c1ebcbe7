import type { Clock } from '../clock.js';
import type { Drainer } from './drainer.js';

export interface WakeOptions {
  drainer: () => Drainer | undefined;
  /** Runs a tick because something was inserted; resolves when its drain is over. */
  tick: () => Promise<void>;
  /** Whether the schedule is held: then nothing wakes. */
  paused: () => boolean;
}

/**
 * Picks up inserts at once instead of at the next tick (`--wake`). However many come at once, one
 * tick serves them; a drain under way only looks again.
 */
export class Wake {
  #ticking = false;
  #again = false;

  constructor(private readonly options: WakeOptions) {}

  /** Something was inserted. */
  inserted(): void {
    const { drainer, tick, paused } = this.options;
    if (paused() || drainer()?.lookAgain()) return;
    if (this.#ticking) {
      // It is about to begin or has just ended; what it did not see, the next one does.
      this.#again = true;
      return;
    }
    this.#ticking = true;
    void tick().finally(() => {
      this.#ticking = false;
      const again = this.#again;
      this.#again = false;
      if (again) this.inserted();
    });
  }
}

/** How often a server's table is looked at for what other clients have inserted. Milliseconds. */
const LOOK_EVERY_MS = 500;

/**
 * Tells of due jobs that others inserted. A server is looked at: a trigger would stay behind in a
 * database that others share, and LISTEN does not pass every pooler.
 * @param anyDue asks the database.
 * @returns a function that stops it.
 */
export function watchInserts(
  clock: Clock,
  anyDue: () => Promise<boolean>,
  inserted: () => void,
): () => void {
  let cancel = () => {};
  let stopped = false;
  const plan = () => {
    cancel = clock.at(new Date(clock.now().getTime() + LOOK_EVERY_MS), () => void look());
  };
  const look = async () => {
    // A database that is away is told of elsewhere.
    if (await anyDue().catch(() => false)) inserted();
    if (!stopped) plan();
  };
  plan();
  return () => {
    stopped = true;
    cancel();
  };
}
