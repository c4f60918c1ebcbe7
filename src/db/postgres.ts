import pg from 'pg';
import { JobqError } from '../errors.js';
import type { Database, Param, Queryable, Row } from './port.js';
import { translate } from './postgres-errors.js';
import { locationOf } from './postgres-url.js';
import { rolledBack } from './rolled-back.js';
import { decoderFor, encodeParam } from './values.js';

/** How long to wait for a server to answer at all. */
const CONNECT_TIMEOUT_MS = 10_000;
/** A statement of the queue takes milliseconds; what has no answer by then gets none any more. */
const ANSWER_TIMEOUT_MS = 30_000;
/** A migration may have to rewrite a large table, or wait for another process that does. */
const MIGRATION_TIMEOUT_MS = 3_600_000;
/** An idle connection is probed after this time; libuv then asks ten times, a second apart. */
const KEEP_ALIVE_MS = 10_000;
/** What is under way at the end is waited for so long. */
const CLOSE_PATIENCE_MS = 5_000;

export interface PostgresOptions {
  databaseUrl: string;
  /**
   * A statement that has no answer by then is given up, with its connection (at most 30 s): it may
   * lead nowhere, without either side having learned of it. `exec` and statements in transactions,
   * which are for migrations, have an hour.
   */
  answerTimeoutMs?: number | undefined;
}

/**
 * Opens a Postgres server, as a Database, over a pool of connections. TLS and everything else is
 * asked for in the URL (`?sslmode=require`).
 *
 * A server that goes away fails the statements under way; later ones connect again.
 *
 * @throws JobqError `config` when the URL is none, `database-unreachable` when nothing answers,
 *   `database-refused` when the server answers and turns us away.
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresDatabase> {
  const database = new PostgresDatabase(options);
  try {
    await database.query('select 1');
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

export class PostgresDatabase implements Database {
  readonly driver = 'postgres';
  readonly location: string;
  readonly #pool: pg.Pool;
  /** What is under way: `pool.end()` would leave those that wait for a connection without one. */
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #lent = new Set<pg.PoolClient>();
  #closing: Promise<void> | undefined;

  constructor({ databaseUrl, answerTimeoutMs: wanted = ANSWER_TIMEOUT_MS }: PostgresOptions) {
    const answerTimeoutMs = Math.min(wanted, ANSWER_TIMEOUT_MS);
    this.location = locationOf(databaseUrl);
    this.#pool = new pg.Pool({
      connectionString: databaseUrl,
      application_name: 'jobq-dev',
      connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS, answerTimeoutMs),
      query_timeout: answerTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      // Of this pool only: pg's global parsers belong to whoever else uses `pg` in this process.
      types: { getTypeParser: (oid: number) => decoderFor(oid) } as pg.CustomTypesConfig,
    });
    // A connection that breaks while idle is dropped by the pool; the next statement opens another.
    this.#pool.on('error', () => {});
  }

  query<R extends Row = Row>(sql: string, params: readonly Param[] = []) {
    return this.#withClient((client) => query<R>(client, this.location, sql, params));
  }

  async exec(sql: string): Promise<void> {
    await this.#withClient(async (client) => {
      try {
        await simple(client, this.location, sql, MIGRATION_TIMEOUT_MS);
      } catch (error) {
        // The text may have begun a transaction before the statement that failed.
        if (!isGone(error)) await client.query('rollback').catch(() => {});
        throw error;
      }
    });
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return this.#withClient((client) => transact(client, this.location, work));
  }

  /** Nothing to do: the server has autovacuum. */
  async maintain(): Promise<void> {}

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const giveUp = setTimeout(() => {
      for (const client of this.#lent) void client.end();
    }, CLOSE_PATIENCE_MS);
    await Promise.allSettled(this.#underWay);
    clearTimeout(giveUp);
    await this.#pool.end();
  }

  async #withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#closing) {
      throw new JobqError('database-unreachable', `the database at ${this.location} is closed`);
    }
    const running = this.#lend(work);
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }

  /** Lends one connection to `work`; it goes back to the pool in order, or not at all. */
  async #lend<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await translated(this.location, () => this.#pool.connect());
    let broken: Error | undefined;
    const onError = (error: Error) => {
      broken = error;
    };
    client.on('error', onError);
    this.#lent.add(client);
    try {
      const value = await work(client);
      // A statement that opened a transaction must not lend it to the next one.
      if (client.getTransactionStatus() !== 'I') await simple(client, this.location, 'rollback');
      return value;
    } catch (error) {
      if (isGone(error)) broken ??= error;
      throw error;
    } finally {
      this.#lent.delete(client);
      client.off('error', onError);
      client.release(broken);
    }
  }
}

async function transact<T>(
  client: pg.PoolClient,
  location: string,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  let over = false;
  const refuseWhenOver = () => {
    if (over) throw new Error('the transaction is over');
  };
  const tx: Queryable = {
    query: async (sql, params = []) => {
      refuseWhenOver();
      return query(client, location, sql, params, MIGRATION_TIMEOUT_MS);
    },
    exec: async (sql) => {
      refuseWhenOver();
      await simple(client, location, sql, MIGRATION_TIMEOUT_MS);
    },
  };
  await simple(client, location, 'begin');
  try {
    const value = await work(tx);
    over = true;
    const { command } = await simple(client, location, 'commit');
    if (command === 'ROLLBACK') throw rolledBack();
    return value;
  } catch (error) {
    over = true;
    // The first error is the one to report. This one can fail only with the whole connection, and
    // does nothing after a commit.
    if (!isGone(error)) await client.query('rollback').catch(() => {});
    throw error;
  }
}

function simple(
  client: pg.PoolClient,
  location: string,
  sql: string,
  answerTimeoutMs?: number,
): Promise<pg.QueryResult> {
  const config: pg.QueryConfig & AnswerTimeout = { text: sql, query_timeout: answerTimeoutMs };
  return translated(location, () => client.query(config));
}

/** What `pg` takes per query, and its types leave out: milliseconds. */
interface AnswerTimeout {
  query_timeout?: number | undefined;
}

function isGone(error: unknown): error is JobqError {
  return error instanceof JobqError && error.code === 'database-unreachable';
}

async function query<R extends Row>(
  client: pg.PoolClient,
  location: string,
  sql: string,
  params: readonly Param[],
  answerTimeoutMs?: number,
): Promise<{ rows: R[]; rowCount: number }> {
  const config: pg.QueryConfig & AnswerTimeout & { queryMode: 'extended' } = {
    text: sql,
    values: params.map(encodeParam),
    query_timeout: answerTimeoutMs,
    // One statement per query, with and without parameters, as the port says.
    queryMode: 'extended',
  };
  const { rows, rowCount } = await translated(location, () => client.query<R>(config));
  return { rows, rowCount: rowCount ?? 0 };
}

async function translated<T>(location: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw translate(error, location);
  }
}
