/** A Postgres for one outside world at a time: PGlite in memory, reached over the wire protocol. */
import { openPglite, type PgliteDatabase } from '../db/pglite.js';
import { DatabaseError } from '../db/port.js';
import { TEMPLATE_TAR } from '../db/template.js';
import { JobqError } from '../errors.js';
import { LOOPBACK } from '../loopback.js';
import { WireServer } from '../wire/server.js';
import { Lanes } from './lanes.js';
import { type Rows, readRows } from './outside/rows.js';

/** How long a killed handler's connections may take to end. */
const GOODBYE_MS = 5_000;
const LOOK_EVERY_MS = 5;

export interface Setup {
  /** The file that the statements come from, for messages. */
  file: string;
  sql: string;
}

export class ScratchDatabase {
  /** What handlers get as DATABASE_URL. */
  readonly url: string;
  readonly #db: PgliteDatabase;
  readonly #wire: WireServer;
  readonly #setup: Setup;
  #onWrite = (): void => {};
  #release = (): void => {};

  private constructor(db: PgliteDatabase, wire: WireServer, port: number, setup: Setup) {
    this.#db = db;
    this.#wire = wire;
    this.#setup = setup;
    this.url = `postgres://postgres@${LOOPBACK}:${port}/postgres?sslmode=disable`;
  }

  static async open(setup: Setup): Promise<ScratchDatabase> {
    const db = await openPglite({ dataDir: 'memory', templatePath: TEMPLATE_TAR });
    const wire = new WireServer({ db, onWrite: () => database.#onWrite() });
    const database: ScratchDatabase = new ScratchDatabase(db, wire, await wire.listen(0), setup);
    return database;
  }

  /**
   * Empties it and sets it up anew.
   * @throws JobqError `config` when the setup fails.
   */
  async reset(): Promise<void> {
    await this.#alone();
    const { rows } = await this.#db.query<{ name: string }>(SCHEMAS);
    const drops = rows.map(({ name }) => `drop schema ${name} cascade;`);
    await this.#db.exec(`${drops.join(' ')} create schema public;`);
    try {
      await this.#db.exec(this.#setup.sql);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      throw new JobqError(
        'config',
        `"testDatabase": ${this.#setup.file}: ${error.message}`,
        'Its statements are run on an empty Postgres before each delivery.',
        { cause: error },
      );
    }
  }

  /** Every row, once no handler is connected any more. */
  async rows(): Promise<Rows> {
    await this.#alone();
    return readRows(this.#db);
  }

  watch(onWrite: () => void): void {
    this.#onWrite = onWrite;
  }

  /** A transaction of ours has the one session there is: clients' statements wait behind it. */
  hold(): void {
    const released = new Promise<void>((resolve) => {
      this.#release = resolve;
    });
    // An engine that has died is met by whoever asks it next.
    this.#db.transaction(() => released).catch(() => {});
  }

  async unwatch(): Promise<void> {
    this.#release();
    await this.#alone();
    this.#onWrite = () => {};
  }

  async close(): Promise<void> {
    await this.#wire.close();
    await this.#db.close();
  }

  /** Resolves when the last client is gone: what it had sent is done then, or undone. */
  async #alone(): Promise<void> {
    const deadline = performance.now() + GOODBYE_MS;
    while (this.#wire.clients > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }
}

/** Scratch databases, made when they are needed, each for one taker at a time. */
export class ScratchDatabases {
  readonly #setup: Setup;
  readonly #lanes: Lanes;
  readonly #open = new Map<number, Promise<ScratchDatabase>>();

  /** @param count how many may be open: each takes some hundred megabytes. */
  constructor(setup: Setup, count: number) {
    this.#setup = setup;
    this.#lanes = new Lanes(count);
  }

  /**
   * Waits for a free one and sets it up. Call `giveBack` in the end.
   * @throws JobqError `config` when the setup fails; nothing is taken then.
   */
  async take(): Promise<{ database: ScratchDatabase; giveBack: () => void }> {
    const { lane, leave } = await this.#lanes.enter();
    try {
      let opening = this.#open.get(lane);
      if (opening === undefined) {
        opening = ScratchDatabase.open(this.#setup);
        this.#open.set(lane, opening);
      }
      const database = await opening;
      await database.reset();
      return { database, giveBack: leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const opening of this.#open.values()) await (await opening).close();
  }
}

const SCHEMAS = `
select quote_ident(nspname) as name from pg_namespace
where nspname !~ '^(pg_|information_schema$)'`;
