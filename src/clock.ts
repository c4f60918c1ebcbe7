/**
 * The only source of time. Every time-sensitive statement takes `now` from here; nothing else reads
 * a clock. Only how long a handler ran and when it is killed is real time, measured by the sandbox.
 */
export interface Clock {
  /** The database's time plus the offset. */
  now(): Date;
  /**
   * Calls `fn` once when `now()` has reached `at`, never before (a timer that fires early is set
   * again); soon, but not synchronously, when it has already.
   * @returns a function that cancels it.
   */
  at(at: Date, fn: () => void): () => void;
}

/**
 * A timer looks at the clock again at least this often: no delay is longer than a timer can hold
 * (2³¹−1 ms), and a laptop that slept is noticed soon after it wakes.
 */
const LOOK_AGAIN_MS = 15_000;

interface Alarm {
  atMs: number;
  fn: () => void;
}

/** Real time: this machine's clock, corrected to the database's, plus an offset that only grows. */
export class SystemClock implements Clock {
  #skewMs = 0;
  #offsetMs = 0;
  #alarms = new Set<Alarm & { timer?: NodeJS.Timeout }>();

  now(): Date {
    return new Date(Date.now() + this.#skewMs + this.#offsetMs);
  }

  /** How far fast-forwarding has taken this clock ahead of the database's, in milliseconds. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Takes over the database's time: `databaseNow` was read while this machine's clock said `at`. */
  sync(databaseNow: Date, at: Date = new Date()): void {
    this.#skewMs = databaseNow.getTime() - at.getTime();
    this.#armAll();
  }

  /** Fast-forwards; what lies between falls due at once, in its order. Milliseconds, never negative. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`a clock cannot go back: ${ms} ms`);
    if (Number.isNaN(new Date(this.now().getTime() + ms).getTime())) {
      throw new RangeError(`no date is that far ahead: ${ms} ms`);
    }
    this.#offsetMs += ms;
    this.#armAll();
  }

  at(at: Date, fn: () => void): () => void {
    const alarm: Alarm & { timer?: NodeJS.Timeout } = { atMs: at.getTime(), fn };
    this.#alarms.add(alarm);
    this.#arm(alarm);
    return () => {
      clearTimeout(alarm.timer);
      this.#alarms.delete(alarm);
    };
  }

  #armAll(): void {
    const alarms = [...this.#alarms].sort((a, b) => a.atMs - b.atMs);
    for (const alarm of alarms) this.#arm(alarm);
  }

  #arm(alarm: Alarm & { timer?: NodeJS.Timeout }): void {
    clearTimeout(alarm.timer);
    const wait = Math.max(0, alarm.atMs - this.now().getTime());
    alarm.timer = setTimeout(
      () => {
        if (this.now().getTime() < alarm.atMs) return this.#arm(alarm);
        this.#alarms.delete(alarm);
        alarm.fn();
      },
      Math.min(wait, LOOK_AGAIN_MS),
    );
  }
}

/**
 * Time that stands still until it is told to move: for replay and for tests. With `flow` it runs
 * along with real time, so that what attempts take counts.
 */
export class VirtualClock implements Clock {
  #nowMs: number;
  #flowingSince: number | undefined;
  #alarms = new Set<Alarm>();

  constructor(start: Date) {
    this.#nowMs = start.getTime();
  }

  now(): Date {
    const flowed =
      this.#flowingSince === undefined ? 0 : Math.floor(performance.now() - this.#flowingSince);
    return new Date(this.#nowMs + flowed);
  }

  /** Lets real time count until `stand` is called. */
  flow(): void {
    this.#flowingSince ??= performance.now();
  }

  /** Stands still where it is. */
  stand(): void {
    this.#nowMs = this.now().getTime();
    this.#flowingSince = undefined;
  }

  /** Jumps to `at` (never back), calling the alarms on the way in their order. */
  advanceTo(at: Date): void {
    const target = at.getTime();
    for (;;) {
      const next = [...this.#alarms]
        .filter((alarm) => alarm.atMs <= target)
        .sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#alarms.delete(next);
      this.#jumpTo(next.atMs);
      next.fn();
    }
    this.#jumpTo(target);
  }

  #jumpTo(ms: number): void {
    this.#nowMs += Math.max(0, ms - this.now().getTime());
  }

  at(at: Date, fn: () => void): () => void {
    const alarm = { atMs: at.getTime(), fn };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }
}
