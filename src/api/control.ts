/** What steers the emulator: its clock, its ticks, where attempts run. */
import type { SystemClock } from '../clock.js';
import type { Database } from '../db/port.js';
import type { Cron } from '../drain/cron.js';
import type { Drainer } from '../drain/drainer.js';
import { JobqError } from '../errors.js';
import type { Events } from '../events.js';
import { nextRetry } from '../queue/next-retry.js';
import type { SandboxName, SandboxProvider } from '../sandbox/port.js';
import type { Advanced, Examples, MOMENTS, ReplayStarted, SandboxInUse } from './contract.js';

export interface ControlOptions {
  db: Database;
  clock: SystemClock;
  events: Events;
  cron: Cron;
  /** The drainer, if one was made. */
  drainer: () => Drainer | undefined;
  /** Whether the clock of a shared database may be moved. */
  allowTimeTravel: boolean;
  useSandbox: (name: SandboxName) => Promise<SandboxProvider>;
  /** Plays a fixture into the queue in real time. */
  replay: (path: string, speed: number) => Promise<ReplayStarted>;
  copyExamples: () => Promise<Examples>;
}

/** How far the clock is moved: by so many milliseconds, or to a moment. */
export type Leap = { by: number } | { to: (typeof MOMENTS)[number] | Date };

export class Control {
  #paused = false;

  constructor(private readonly emulator: ControlOptions) {}

  /** Whether the schedule is held. */
  get paused(): boolean {
    return this.#paused;
  }

  /**
   * Moves the clock ahead: cron, retries, leases and ages with it. Slots of the schedule that lie
   * between are caught up by one tick.
   * @throws JobqError `conflict` where there is no such moment, or the clock is not ours to move;
   *   `input` for a time that has passed.
   */
  async advance(leap: Leap): Promise<Advanced> {
    const { db, clock, events, cron, allowTimeTravel } = this.emulator;
    if (db.driver === 'postgres' && !allowTimeTravel) {
      throw new JobqError(
        'conflict',
        `the database ${db.location} may be shared, and moving its time ahead makes jobs due for every drainer`,
        'Start jobq-dev with --allow-time-travel if nobody else uses it.',
      );
    }
    const ms = 'by' in leap ? leap.by : await this.#until(leap.to);
    const next = cron.next;
    const ticks = next !== undefined && next.getTime() <= clock.now().getTime() + ms ? 1 : 0;
    try {
      clock.advance(ms);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new JobqError('input', error.message, 'Nothing was moved.', { cause: error });
    }
    const now = clock.now();
    events.emit('clock', { at: now, offsetMs: clock.offsetMs });
    return { now: now.toISOString(), offset_ms: clock.offsetMs, ticks };
  }

  /** Holds the schedule: no tick fires, and a drain under way claims no more. Idempotent. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.emulator.cron.stop();
    this.emulator.drainer()?.hold();
    this.#tellPaused();
  }

  /** Lets the schedule go on with its next slot. Idempotent. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.emulator.cron.start();
    this.#tellPaused();
  }

  /**
   * Another provider from the next attempt on; what runs stays where it is.
   * @throws JobqError `sandbox-unavailable`; the one in use stays.
   */
  async useSandbox(name: SandboxName): Promise<SandboxInUse> {
    const { clock, events, useSandbox } = this.emulator;
    const { name: provider, description, enforces } = await useSandbox(name);
    const inUse = { provider, description, isolation: enforces.isolation };
    events.emit('sandbox', { at: clock.now(), ...inUse });
    return inUse;
  }

  /** @throws JobqError for a fixture that is missing or wrong; nothing was inserted then. */
  replay(path: string, speed = 1): Promise<ReplayStarted> {
    return this.emulator.replay(path, speed);
  }

  /** The example handlers, into the handlers directory; nothing is overwritten. */
  copyExamples(): Promise<Examples> {
    return this.emulator.copyExamples();
  }

  #tellPaused(): void {
    const { clock, events } = this.emulator;
    events.emit('paused', { at: clock.now(), paused: this.#paused });
  }

  /** Milliseconds until a moment. */
  async #until(to: (typeof MOMENTS)[number] | Date): Promise<number> {
    const { db, clock, cron } = this.emulator;
    const now = clock.now();
    const at =
      to === 'next-tick' ? cron.next : to === 'next-retry' ? await nextRetry(db, { now }) : to;
    if (at === undefined) throw this.#noSuch(to);
    const ms = at.getTime() - clock.now().getTime();
    if (ms >= 0) return to === 'next-retry' ? ms + PART_OF_A_MS : ms;
    if (to instanceof Date) {
      throw new JobqError(
        'input',
        `to: ${to.toISOString()} has passed: the clock is at ${now.toISOString()}, and never goes back`,
      );
    }
    return 0;
  }

  #noSuch(moment: unknown): JobqError {
    if (moment === 'next-retry') {
      return new JobqError(
        'conflict',
        'no job waits for a retry',
        'jobq-dev jobs list shows them.',
      );
    }
    return this.#paused
      ? new JobqError('conflict', 'the drainer is paused: no tick is next', 'jobq-dev resume')
      : new JobqError('conflict', 'the schedule has no tick left', 'Give it another: --cron.');
  }
}

/** A time in the table has microseconds, of which a Date lacks the last three digits. */
const PART_OF_A_MS = 1;
