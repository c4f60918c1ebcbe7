import type { Client } from './client.js';
import type { Report } from './messages.js';
import { CANCELLED, DEADLOCK, LOCK_TIMED_OUT } from './reports.js';

/** One client's wait for an advisory lock, outside of any turn. */
export class LockWait {
  readonly #stop = new AbortController();
  #why: Report | undefined;

  constructor(
    private readonly client: Client,
    private readonly key: string,
  ) {}

  cancel(): void {
    this.#end(CANCELLED);
  }

  /** The client is gone. */
  abandon(): void {
    this.#end(undefined);
  }

  /** @returns whether to try again, or why not; nothing when there is nobody to tell. */
  async over(): Promise<{ again: boolean; report?: Report | undefined }> {
    const { shared, state, timeouts } = this.client;
    if (shared.advisory.deadlocks(state, this.key)) return { again: false, report: DEADLOCK };
    const timer =
      timeouts.lock > 0 ? setTimeout(() => this.#end(LOCK_TIMED_OUT), timeouts.lock) : undefined;
    await shared.advisory.until(state, this.key, this.#stop.signal);
    clearTimeout(timer);
    return { again: !this.#stop.signal.aborted, report: this.#why };
  }

  #end(report: Report | undefined): void {
    if (this.#stop.signal.aborted) return;
    this.#why = report;
    this.#stop.abort();
  }
}
