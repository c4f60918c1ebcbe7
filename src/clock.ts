/**
 * The only source of time (DESIGN: "Time"). Every time-sensitive statement takes `now` from here;
 * nothing else reads a clock.
 */
export interface Clock {
  /** The database's time plus the offset. */
  now(): Date;
  /** How far this clock is ahead of the database's, in milliseconds; it only grows. */
  readonly offsetMs: number;
  /**
   * Calls `fn` once when `now()` has reached `at`; at once (but not synchronously) when it has
   * already. @returns a function that cancels it.
   */
  at(at: Date, fn: () => void): () => void;
}
