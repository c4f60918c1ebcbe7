import { JobqError } from '../errors.js';
import { type Database, DatabaseError, type Param, type Queryable, type Row } from './port.js';

/** How often a database that is away is asked whether it is back. */
const LOOK_EVERY_MS = 1_000;

/**
 * The same database, and `onChange` is told when it goes away and when it is back: once a change,
 * whichever statement finds out.
 */
export function watched(db: Database, onChange: OnChange): Database {
  return new WatchedDatabase(db, onChange);
}

type OnChange = (reachable: boolean, message: string) => void;

class WatchedDatabase implements Database {
  #reachable = true;
  /** How many statements were asked, and which of those that were answered was asked last. */
  #asked = 0;
  #answered = 0;
  #closed = false;
  #look: NodeJS.Timeout | undefined;

  constructor(
    private readonly db: Database,
    private readonly onChange: OnChange,
  ) {}

  get driver() {
    return this.db.driver;
  }

  get location() {
    return this.db.location;
  }

  query<R extends Row = Row>(sql: string, params?: readonly Param[]) {
    return this.#watch(() => this.db.query<R>(sql, params));
  }

  exec(sql: string) {
    return this.#watch(() => this.db.exec(sql));
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>) {
    return this.#watch(() => this.db.transaction(work));
  }

  maintain() {
    return this.#watch(() => this.db.maintain());
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#look);
    return this.db.close();
  }

  async #watch<T>(ask: () => Promise<T>): Promise<T> {
    this.#asked += 1;
    const number = this.#asked;
    try {
      const answer = await ask();
      this.#answers(number);
      return answer;
    } catch (error) {
      if (error instanceof DatabaseError) this.#answers(number);
      const away = error instanceof JobqError && error.code === 'database-unreachable';
      // Who was asked later and has answered is there, though this one's connection was lost.
      if (away && number > this.#answered) this.#saw(false, () => error.message);
      throw error;
    }
  }

  #answers(number: number): void {
    this.#answered = Math.max(this.#answered, number);
    this.#saw(true, () => `the database at ${this.location} answers again`);
  }

  #saw(reachable: boolean, message: () => string): void {
    if (this.#closed || this.#reachable === reachable) return;
    this.#reachable = reachable;
    this.onChange(reachable, message());
    if (!reachable) this.#lookAgain();
  }

  /** Nobody may ask for long: the next tick can be far away. */
  #lookAgain(): void {
    this.#look = setTimeout(async () => {
      await this.query('select 1').catch(() => {});
      if (!this.#reachable && !this.#closed) this.#lookAgain();
    }, LOOK_EVERY_MS);
    this.#look.unref();
  }
}
