import pg from 'pg';
import { JobqError } from '../errors.js';
import type { Database, Param, Queryable, Row } from './port.js';
import { translate } from './postgres-errors.js';
import { locationOf } from './postgres-url.js';
import { rolledBack } from './rolled-back.js';
import { decoderFor, encodeParam } from './values.js';

/** How long to wait for a server to answer at all. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Opens a Postgres server, as a Database, over a pool of connections. TLS and everything else is
 * asked for in the URL (`?sslmode=require`).
 *
 * A server that goes away fails the statements under way; later ones connect again.
 *
 * @throws JobqError `config` when the URL is none, `database-unreachable` when nothing answers,
 *   `database-refused` when the server answers and turns us away.
 */
export async function openPostgres(options: { databaseUrl: string }): Promise<PostgresDatabase> {
  const database = new PostgresDatabase(options.databaseUrl);
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
  #closing: Promise<void> | undefined;

  constructor(databaseUrl: string) {
    this.location = locationOf(databaseUrl);
    this.#pool = new pg.Pool({
      connectionString: databaseUrl,
      application_name: 'jobq-dev',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
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
        await simple(client, this.location, sql);
      } catch (error) {
        // The text may have begun a transaction before the statement that failed.
        await client.query('rollback').catch(() => {});
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
    this.#closing ??= Promise.allSettled(this.#underWay).then(() => this.#pool.end());
    return this.#closing;
  }

  async #withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#closing) {
      throw new JobqError('database-unreachable', `the database at ${this.location} is closed`);
    }
    const running = withClient(this.#pool, this.location, work);
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }
}

/** Lends one connection to `work`; it goes back to the pool in order, or not at all. */
async function withClient<T>(
  pool: pg.Pool,
  location: string,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await translated(location, () => pool.connect());
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    const value = await work(client);
    // A statement that opened a transaction must not lend it to the next one.
    if (client.getTransactionStatus() !== 'I') await simple(client, location, 'rollback');
    return value;
  } catch (error) {
    if (error instanceof JobqError && error.code === 'database-unreachable') broken ??= error;
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
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
      return query(client, location, sql, params);
    },
    exec: async (sql) => {
      refuseWhenOver();
      await simple(client, location, sql);
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
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

function simple(client: pg.PoolClient, location: string, sql: string): Promise<pg.QueryResult> {
  return translated(location, () => client.query(sql));
}

async function query<R extends Row>(
  client: pg.PoolClient,
  location: string,
  sql: string,
  params: readonly Param[],
): Promise<{ rows: R[]; rowCount: number }> {
  const config: pg.QueryConfig & { queryMode: 'extended' } = {
    text: sql,
    values: params.map(encodeParam),
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
