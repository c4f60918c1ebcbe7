import type { PgliteDatabase } from '../db/pglite.js';
import type { Guest, RawSession } from '../db/raw-session.js';

/** Thrown for a client that left the queue before its turn came. */
export class LeftTheQueue extends Error {}

export interface Ticket {
  /** Resolves when the turn is over. */
  readonly over: Promise<void>;
  readonly started: boolean;
  /** Gives up the place in the queue. @returns whether the turn had not begun. */
  leave(): boolean;
}

/** Who takes turns, as a person knows it. */
export interface Taker {
  readonly label: string;
}

interface Waiting extends Ticket {
  taker: Taker;
  work(raw: RawSession): Promise<void>;
  started: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * The clients' turns on the one session, first come, first served. Statements of this process come
 * in between two turns, never into one.
 */
export class TurnQueue {
  readonly #waiting: Waiting[] = [];
  #running = false;
  #holder: Taker | undefined;

  constructor(
    private readonly db: PgliteDatabase,
    private readonly guest: Guest,
  ) {}

  /** Whose turn it is. */
  get holder(): Taker | undefined {
    return this.#holder;
  }

  /** How many wait for the turn under way to be over: clients, and statements of this process. */
  get waiting(): number {
    return this.#waiting.length + this.db.waiting;
  }

  take(taker: Taker, work: (raw: RawSession) => Promise<void>): Ticket {
    let resolve!: () => void;
    let reject!: (error: unknown) => void;
    const over = new Promise<void>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    const ticket: Waiting = {
      over,
      taker,
      work,
      resolve,
      reject,
      started: false,
      leave: () => {
        const at = this.#waiting.indexOf(ticket);
        if (at < 0) return false;
        this.#waiting.splice(at, 1);
        reject(new LeftTheQueue());
        return true;
      },
    };
    this.#waiting.push(ticket);
    if (!this.#running) void this.#run();
    return ticket;
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      for (;;) {
        const next = this.#waiting[0];
        if (next === undefined) return;
        // One that leaves while the drainer's statements go first is no longer there.
        await this.db
          .exclusive(this.guest, async (raw) => {
            if (this.#waiting[0] !== next) return;
            this.#waiting.shift();
            next.started = true;
            this.#holder = next.taker;
            await next.work(raw);
          })
          .finally(() => {
            this.#holder = undefined;
          })
          .then(
            () => next.resolve(),
            (error) => next.reject(error),
          );
        if (this.#waiting[0] === next) this.#waiting.shift();
      }
    } finally {
      this.#running = false;
    }
  }
}
