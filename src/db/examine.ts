/**
 * Whether the files of a local database still hold what they held. Checksums tell of a page that was
 * changed, when it is read; they do not tell of a file that was cut or of pages that became zeros,
 * as a power cut leaves them. Those rows are just not there any more, but the index has them.
 */
import { uptime } from 'node:os';
import { damaged } from './damage.js';
import type { OwnerInfo } from './lock.js';
import { type Database, DatabaseError, type Queryable } from './port.js';

/** Our tables with their keys, on which each has an index. */
const TABLES = { jobs: 'id', job_attempts: 'id', jobq_migrations: 'version' } as const;

type Table = keyof typeof TABLES;

/** So that rows are looked for where the index says they are. */
const BY_INDEX =
  'set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_indexonlyscan = off';
const BY_FILE = 'set local enable_seqscan = on; set local enable_indexscan = off';

/**
 * Looks for the newest row of each table: finds a file that was cut. About a millisecond.
 * @throws JobqError `directory-unusable`
 */
export async function glance(db: Database): Promise<void> {
  const looks = Object.entries(TABLES).map(
    ([table, key]) => `select from ${table} order by ${key} desc limit 1`,
  );
  try {
    // Sent together, they are one transaction: the settings end with it.
    await db.exec([BY_INDEX, ...looks].join('; '));
  } catch (error) {
    const neverMigrated = error instanceof DatabaseError && error.sqlstate === '42P01';
    if (!neverMigrated) throw error;
  }
}

/**
 * Reads every row by the file and by the index, and compares. A second for a million rows.
 * @throws JobqError `directory-unusable`
 */
export async function examine(db: Database): Promise<void> {
  for (const table of await existing(db)) {
    // Of rows that are deleted the index may know still; not after this.
    await db.exec(`vacuum (index_cleanup on) ${table}`);
    const { rows, entries } = await db.transaction((tx) => count(tx, table));
    if (rows === entries) continue;
    throw damaged(
      db.location,
      `there are ${rows} rows in the file of ${table}, and ${entries} in its index`,
    );
  }
}

/** Entries that point at nothing are passed over by the engine, but it counts what it read. */
async function count(tx: Queryable, table: Table): Promise<{ rows: number; entries: number }> {
  const read = async () => {
    const { rows } = await tx.query<{ read: number }>(
      'select pg_stat_get_xact_tuples_returned($1::text::regclass)::float8 as read',
      [`${table}_pkey`],
    );
    return rows[0]!.read;
  };
  await tx.exec(BY_INDEX);
  const before = await read();
  // The offset keeps the order, and so the index.
  await tx.query(
    `select count(*) from (select from ${table} order by ${TABLES[table]} offset 0) as by_index`,
  );
  const entries = (await read()) - before;
  await tx.exec(BY_FILE);
  const { rows } = await tx.query<{ rows: number }>(
    `select count(*)::float8 as rows from ${table}`,
  );
  return { rows: rows[0]!.rows, entries };
}

/** A database that was never migrated lacks them. */
async function existing(db: Database): Promise<Table[]> {
  const { rows } = await db.query<{ name: Table }>(
    'select name from unnest($1::text[]) as name where to_regclass(name) is not null',
    [Object.keys(TABLES)],
  );
  return rows.map(({ name }) => name);
}

/** A second either way: a clock may have been set since. */
const SLACK_MS = 1_000;

/** Whether the machine has been started since: an owner that never ended went down with it. */
export function wentDownWithMachine(owner: OwnerInfo): boolean {
  return Date.parse(owner.startedAt) < Date.now() - uptime() * 1_000 - SLACK_MS;
}
