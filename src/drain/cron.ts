import type { Clock } from '../clock.js';
import type { TickCause } from '../events.js';
import type { Schedule } from '../schedule.js';

/** Later than this after its slot a tick counts as missed and caught up. */
const LATE_MS = 5_000;

/**
 * Fires a tick at each slot of the schedule. Slots that were missed (a laptop's sleep, a
 * fast-forward, a blocked process) are caught up by one tick, however many they were.
 */
export class Cron {
  #cancel: (() => void) | undefined;
  #next: Date | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly schedule: Schedule,
    private readonly onTick: (cause: TickCause, lateMs: number) => void,
  ) {}

  /** The slot that fires next; undefined when stopped, or when the schedule has none left. */
  get next(): Date | undefined {
    return this.#next;
  }

  /** Idempotent. */
  start(): void {
    this.stop();
    this.#plan(this.clock.now());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#next = undefined;
  }

  #plan(after: Date): void {
    const slot = this.schedule.next(after);
    this.#next = slot;
    if (slot === undefined) return;
    this.#cancel = this.clock.at(slot, () => {
      const now = this.clock.now();
      const lateMs = now.getTime() - slot.getTime();
      // Planned from the later of the two: a clock that was set back does not fire a slot twice.
      this.#plan(new Date(Math.max(now.getTime(), slot.getTime())));
      this.onTick(lateMs > LATE_MS ? 'catch-up' : 'schedule', Math.max(0, lateMs));
    });
  }
}
