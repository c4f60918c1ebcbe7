/** At most so many frames a second are drawn for what the emulator does. */
export const FRAMES_PER_SECOND = 10;
const FRAME_MS = 1_000 / FRAMES_PER_SECOND;
/** Drawing takes at most this part of the time. */
const SHARE = 1 / 10;

/**
 * A value outside React, for `useSyncExternalStore`. Changes are cheap; who listens is told at most
 * every 100 ms, or at once for what a key did. Between two frames the snapshot stands still.
 */
export class Store<State> {
  #state: State;
  #shown: State;
  #shownAt = Number.NEGATIVE_INFINITY;
  #frameMs = FRAME_MS;
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(initial: State) {
    this.#state = initial;
    this.#shown = initial;
  }

  /** The newest state. */
  get state(): State {
    return this.#state;
  }

  /** The state of the frame on the screen. */
  readonly snapshot = (): State => this.#shown;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @param when `now`: for an answer to a key. `soon`: with the next frame. */
  update(change: (state: State) => State, when: 'now' | 'soon' = 'soon'): void {
    this.#state = change(this.#state);
    if (when === 'now') this.#show();
    else if (this.#state !== this.#shown) this.#showSoon();
  }

  #showSoon(): void {
    if (this.#timer !== undefined) return;
    const waitMs = this.#shownAt + this.#frameMs - performance.now();
    this.#timer = setTimeout(() => this.#show(), Math.max(0, waitMs));
    this.#timer.unref();
  }

  #show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#shownAt = performance.now();
    if (this.#shown === this.#state) return;
    this.#shown = this.#state;
    for (const listener of this.#listeners) listener();
    // Who listens draws before the event loop goes on: a slow machine gets fewer frames.
    const startedAt = this.#shownAt;
    setImmediate(() => {
      this.#frameMs = Math.max(FRAME_MS, (performance.now() - startedAt) / SHARE);
    });
  }
}
