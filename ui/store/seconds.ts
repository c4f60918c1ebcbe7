/** This machine's time, a second at a time, for what counts up or down on the screen. */
export class Seconds {
  #now = Date.now();
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new Set<() => void>();

  /** Stands still between two seconds, so that all of a frame agrees. */
  get now(): number {
    return this.#now;
  }

  /** The clock runs only while somebody listens. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#timer === undefined) this.#next();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  };

  #next(): void {
    this.#now = Date.now();
    this.#timer = setTimeout(
      () => {
        this.#next();
        for (const listener of this.#listeners) listener();
      },
      1_000 - (this.#now % 1_000),
    );
    this.#timer.unref();
  }
}
