import type { ClientState } from './client-state.js';

/** Who waits for an advisory lock that another client's session holds. */
export class AdvisoryWaits {
  readonly #waiting = new Map<ClientState, { key: string; wake: () => void }>();

  /** @param clients all there are. */
  constructor(private readonly clients: () => Iterable<ClientState>) {}

  /** @param key `b42:x`: the lock and the mode it is wanted in. */
  holders(state: ClientState, key: string): ClientState[] {
    const [lock, mode] = key.split(':');
    return [...this.clients()].filter(
      (other) =>
        other !== state &&
        (other.locks.has(`${lock}:x`) || (mode === 'x' && other.locks.has(`${lock}:s`))),
    );
  }

  /** Whether those that hold `key` wait, in the end, for this client. */
  deadlocks(state: ClientState, key: string, seen = new Set<ClientState>()): boolean {
    return this.holders(state, key).some((holder) => {
      const wanted = this.#waiting.get(holder);
      if (wanted === undefined || seen.has(holder)) return false;
      seen.add(holder);
      return this.holders(holder, wanted.key).includes(state)
        ? true
        : this.deadlocks(holder, wanted.key, seen);
    });
  }

  /** Resolves when the lock may be free, or `stop` aborts. */
  async until(state: ClientState, key: string, stop: AbortSignal): Promise<void> {
    if (this.holders(state, key).length === 0 || stop.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waiting.set(state, { key, wake: resolve });
      stop.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#waiting.delete(state);
  }

  /** Somebody has let go of a lock. */
  released(): void {
    for (const { wake } of this.#waiting.values()) wake();
  }
}
