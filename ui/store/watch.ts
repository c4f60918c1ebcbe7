import type { StreamEvent } from '../../src/api/contract.js';
import { followEvents } from '../../src/api/follow-events.js';
import type { Emulator } from '../emulator.js';
import { applyEvent } from './apply-event.js';
import { applyOverview } from './apply-overview.js';
import { loadJob } from './load-job.js';
import { loadList } from './load-list.js';
import type { State } from './state.js';
import type { Store } from './store.js';

/** With nothing heard, rows that somebody else inserted are looked for so often. */
const IDLE_MS = 5_000;
/** Counts and lists are asked for again at most so often while things happen. */
const BUSY_MS = 1_000;
/** Asking takes at most this part of the time. */
const SHARE = 1 / 20;
const AGAIN_MS = 500;

/**
 * Keeps the store like the emulator: events as they happen, and what only the database knows
 * (counts, ages, the rows of a list) asked for again while they do.
 */
export class Watch {
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** When the next look may be, and when it is due anyway; on the performance clock. */
  #earliest = 0;
  #lookedAt = 0;
  #looking = false;
  #dirty = false;
  #urgent = false;
  /** Events that came while an overview was asked for. */
  #since: StreamEvent[] = [];

  constructor(
    private readonly store: Store<State>,
    private readonly emulator: Emulator,
  ) {}

  /** @returns once the first overview is there, or could not be had. */
  async start(): Promise<void> {
    await this.#look();
    void this.#follow();
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#timer);
  }

  /** Something on the screen is not as it was: looks again, soon. */
  readonly refresh = (): void => {
    this.#dirty = true;
    this.#schedule();
  };

  /** Looks at once, for what a key has opened. */
  readonly refreshNow = (): void => {
    this.#urgent = true;
    this.refresh();
  };

  async #follow(): Promise<void> {
    const { signal } = this.#stopped;
    const onConnection = (connected: boolean) => {
      if (signal.aborted) return;
      this.store.update((state) => ({ ...state, link: connected ? 'live' : 'lost' }));
      if (connected) this.refreshNow();
    };
    while (!signal.aborted) {
      const after = this.store.state.overview?.event_id;
      try {
        for await (const event of followEvents(this.emulator.link.open, {
          after,
          signal,
          onConnection,
        })) {
          this.#since.push(event);
          this.store.update((state) => applyEvent(state, event));
          if (event.name !== 'output' || this.#isOpen(event.data.job_id)) this.refresh();
        }
      } catch (error) {
        this.#lost(error as Error);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS).unref());
      }
    }
  }

  #isOpen(id: string): boolean {
    return this.store.state.views.at(-1)?.id === id;
  }

  #lost(error: Error): void {
    if (this.#stopped.signal.aborted) return;
    this.store.update((state) => ({ ...state, link: 'lost', trouble: error.message }));
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#stopped.signal.aborted || this.#looking) return;
    const now = performance.now();
    const busy = this.#dirty ? this.#earliest : this.#lookedAt + IDLE_MS;
    const due = this.#urgent ? now : busy;
    this.#timer = setTimeout(() => void this.#look(), Math.max(0, due - now));
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    this.#dirty = false;
    this.#urgent = false;
    this.#since = [];
    const startedAt = performance.now();
    try {
      const overview = await this.emulator.overview();
      const since = this.#since;
      this.store.update((state) => applyOverview(state, overview, since, Date.now()));
      const { tab, views } = this.store.state;
      const open = views.at(-1);
      if (open !== undefined) await loadJob(this.store, this.emulator, open.id);
      else if (tab !== 'live') await loadList(this.store, this.emulator, tab);
    } catch (error) {
      this.#lost(error as Error);
    }
    this.#looking = false;
    this.#lookedAt = performance.now();
    const tookMs = this.#lookedAt - startedAt;
    this.#earliest = startedAt + Math.max(BUSY_MS, tookMs / SHARE);
    this.#schedule();
  }
}
