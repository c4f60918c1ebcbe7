import { JobqError } from '../errors.js';
import { maintenanceDue } from './maintain.js';
import { PgliteSession } from './pglite-session.js';
import type { WorkerOptions } from './pglite-worker.js';
import type { Database, Param, Queryable, Row } from './port.js';
import { extendedQuery, type Result, readResponse, simpleQuery, statusOf } from './protocol.js';
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
 * @throws JobqError `database-unreachable` when the engine cannot open it.
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
  #closing: Promise<void> | undefined;

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
    this.#refuseWhenClosed();
    const result = await this.#turns.shared(() =>
      runStatement<R>(this.#living(), sql, params, false),
    );
    return { rows: result.rows, rowCount: result.rowCount };
  }

  async exec(sql: string): Promise<void> {
    this.#refuseWhenClosed();
    const bytes = simpleQuery(sql);
    await this.#turns.shared(() => run(this.#living(), bytes, false));
  }

  async transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    this.#refuseWhenClosed();
    // One life of the worker for the whole transaction: if it dies, the rest must fail, not run on
    // a new session outside of any transaction.
    return this.#turns.exclusive(() => transact(this.#living(), work));
  }

  /**
   * Runs `work` alone on the session, with raw protocol messages: what another protocol server
   * needs to pass a client's messages through (all but its startup and Terminate messages).
   * Whatever transaction is open at the end is rolled back.
   */
  async exclusive<T>(work: (send: SendRaw) => Promise<T>): Promise<T> {
    this.#refuseWhenClosed();
    return this.#turns.exclusive(async () => {
      const session = this.#living();
      let open = false;
      try {
        return await work(async (bytes) => {
          // A copy: what is sent is transferred, and the caller's may be a part of a larger buffer.
          const answer = await session.send(new Uint8Array(bytes), true);
          open = statusOf(answer) !== 'I';
          return answer;
        });
      } finally {
        if (open && !session.dead) await run(session, ROLLBACK(), true);
      }
    });
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

  #refuseWhenClosed(): void {
    if (!this.#closing) return;
    throw new JobqError('database-unreachable', `the database at ${this.location} is closed`);
  }
}

/** Sends whole protocol messages. @returns everything the engine answers to them. */
export type SendRaw = (bytes: Uint8Array) => Promise<Uint8Array>;

const ROLLBACK = () => simpleQuery('rollback');

async function run<R extends Row>(
  session: PgliteSession,
  bytes: Uint8Array<ArrayBuffer>,
  inTransaction: boolean,
): Promise<Result<R>> {
  return readResponse<R>(await session.send(bytes, inTransaction));
}

/** One statement with parameters, prepared when it comes again and again. */
async function runStatement<R extends Row>(
  session: PgliteSession,
  sql: string,
  params: readonly Param[],
  inTransaction: boolean,
): Promise<Result<R>> {
  const use = session.statements.use(sql);
  const bytes = extendedQuery(sql, params, use);
  if (!use?.parse) return run<R>(session, bytes, inTransaction);
  try {
    const result = await run<R>(session, bytes, inTransaction);
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
): Promise<T> {
  let over = false;
  const refuseWhenOver = () => {
    if (over) throw new Error('the transaction is over');
  };
  const send = (bytes: Uint8Array<ArrayBuffer>) => {
    refuseWhenOver();
    return run(session, bytes, true);
  };
  const tx: Queryable = {
    query: async <R extends Row>(sql: string, params: readonly Param[] = []) => {
      refuseWhenOver();
      const { rows, rowCount } = await runStatement<R>(session, sql, params, true);
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
    await run(session, ROLLBACK(), true).catch(() => {});
    throw error;
  }
}
