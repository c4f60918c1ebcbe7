import { JobqError } from '../errors.js';
import { explainDamage } from './damage.js';
import { maintenanceDue } from './maintain.js';
import { PgliteSession } from './pglite-session.js';
import type { WorkerOptions } from './pglite-worker.js';
import type { Database, Param, Queryable, Row } from './port.js';
import {
  extendedQuery,
  type Notification,
  type Result,
  readResponse,
  simpleQuery,
} from './protocol.js';
import { type Guest, RawSession } from './raw-session.js';
import { rolledBack } from './rolled-back.js';
import { Turns } from './turns.js';

export interface PgliteOptions {
  /** A directory that holds a cluster (see template.ts), or `memory`. */
  dataDir: string;
  /** For `memory`: the gzipped tar file to start from. */
  templatePath?: string;
}

/**
 * Opens PGlite in a worker thread, as a Database. The directory must hold a cluster and belong to
 * this process (see open.ts, which sees to both).
 *
 * Nothing that was acknowledged is lost when the process or the worker dies: each commit is in a
 * file by then. A power cut can lose what the operating system had not yet written: PGlite has no
 * fsync.
 *
 * @throws JobqError `directory-unusable` when the engine cannot open it.
 */
export async function openPglite(options: PgliteOptions): Promise<PgliteDatabase> {
  const database = new PgliteDatabase(options);
  await database.ready();
  return database;
}

export class PgliteDatabase implements Database {
  readonly driver = 'pglite';
  readonly location: string;
  readonly #options: WorkerOptions;
  readonly #turns = new Turns();
  #session: PgliteSession;
  /** Whose traces are in the session, while nobody else needs it. */
  #guest: Guest | undefined;
  #ownStatements = 0;
  #closing: Promise<void> | undefined;
  /** Gets what statements of this process notify listeners of. */
  onNotification: (notification: Notification) => void = () => {};

  constructor({ dataDir, templatePath }: PgliteOptions) {
    this.location = dataDir;
    this.#options = dataDir === 'memory' ? { ...(templatePath && { templatePath }) } : { dataDir };
    this.#session = new PgliteSession(this.#options, dataDir);
  }

  /** Resolves when the engine is open. Statements may be sent before. */
  ready(): Promise<void> {
    return this.#session.ready;
  }

  async query<R extends Row = Row>(sql: string, params: readonly Param[] = []) {
    this.#begin();
    const { rows, rowCount } = await this.#turns.shared(() =>
      runStatement<R>(this.#living(), sql, params, this.#run(false)),
    );
    return { rows, rowCount };
  }

  async exec(sql: string): Promise<void> {
    this.#begin();
    const bytes = simpleQuery(sql);
    await this.#turns.shared(() => this.#run(false)(this.#living(), bytes));
  }

  async transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    this.#begin();
    // One life of the worker for the whole transaction: if it dies, the rest must fail, not run on
    // a new session outside of any transaction.
    return this.#turns.exclusive(() => transact(this.#living(), work, this.#run(true)));
  }

  /**
   * Runs `work` alone on the session, with raw protocol messages: what another protocol server
   * needs to pass a client's messages through.
   */
  async exclusive<T>(guest: Guest, work: (raw: RawSession) => Promise<T>): Promise<T> {
    this.#refuseWhenClosed();
    return this.#turns.exclusive(async () => {
      this.#guest = undefined;
      const raw = this.#raw();
      try {
        return await work(raw);
      } finally {
        await raw.end();
        // What waits here is this process's own.
        if (this.#turns.waiting > 0) await guest.leave(raw);
        else if (!guest.tidy) this.#guest = guest;
      }
    });
  }

  /** How many statements of this process wait for a turn of `exclusive` to be over. */
  get waiting(): number {
    return this.#turns.waiting;
  }

  async maintain(): Promise<void> {
    for (const statement of await maintenanceDue(this)) await this.exec(statement);
  }

  close(): Promise<void> {
    this.#closing ??= this.#turns.idle().then(() => this.#session.close());
    return this.#closing;
  }

  /** The session to use: a new one when the last one died. */
  #living(): PgliteSession {
    // What was in memory died with it; an empty database in its place would be a lie.
    if (this.#session.dead && this.location !== 'memory') {
      this.#session = new PgliteSession(this.#options, this.location);
    }
    return this.#session;
  }

  #raw(): RawSession {
    return new RawSession(this.#living(), () => this.#living(), this.#ownStatements);
  }

  /** Called before each statement of this process. */
  #begin(): void {
    this.#refuseWhenClosed();
    this.#ownStatements += 1;
    const guest = this.#guest;
    if (guest === undefined) return;
    this.#guest = undefined;
    void this.#turns.exclusive(() => guest.leave(this.#raw()));
  }

  #run(inTransaction: boolean): Run {
    return async (session, bytes) => {
      const answer = await session.send(bytes, inTransaction);
      try {
        return readResponse(answer, this.onNotification);
      } catch (error) {
        throw this.location === 'memory' ? error : explainDamage(error, this.location);
      }
    };
  }

  #refuseWhenClosed(): void {
    if (!this.#closing) return;
    throw new JobqError('database-unreachable', `the database at ${this.location} is closed`);
  }
}

type Run = <R extends Row>(
  session: PgliteSession,
  bytes: Uint8Array<ArrayBuffer>,
) => Promise<Result<R>>;

/** One statement with parameters, prepared when it comes again and again. */
async function runStatement<R extends Row>(
  session: PgliteSession,
  sql: string,
  params: readonly Param[],
  run: Run,
): Promise<Result<R>> {
  const use = session.statements.use(sql);
  const bytes = extendedQuery(sql, params, use);
  if (!use?.parse) return run<R>(session, bytes);
  try {
    const result = await run<R>(session, bytes);
    session.statements.answered(sql, true);
    return result;
  } catch (error) {
    session.statements.answered(sql, false);
    throw error;
  }
}

async function transact<T>(
  session: PgliteSession,
  work: (tx: Queryable) => Promise<T>,
  run: Run,
): Promise<T> {
  let over = false;
  const refuseWhenOver = () => {
    if (over) throw new Error('the transaction is over');
  };
  const send = (bytes: Uint8Array<ArrayBuffer>) => {
    refuseWhenOver();
    return run(session, bytes);
  };
  const tx: Queryable = {
    query: async <R extends Row>(sql: string, params: readonly Param[] = []) => {
      refuseWhenOver();
      const { rows, rowCount } = await runStatement<R>(session, sql, params, run);
      return { rows, rowCount };
    },
    exec: async (sql) => {
      await send(simpleQuery(sql));
    },
  };
  await send(simpleQuery('begin'));
  try {
    const value = await work(tx);
    const committed = send(simpleQuery('commit'));
    over = true;
    if ((await committed).command === 'ROLLBACK') throw rolledBack();
    return value;
  } catch (error) {
    over = true;
    // The first error is the one to report. This one can fail only with the whole session, and
    // does nothing after a commit.
    await run(session, simpleQuery('rollback')).catch(() => {});
    throw error;
  }
}
