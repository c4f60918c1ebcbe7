import { readdir, readFile } from 'node:fs/promises';
import { JobqError } from '../errors.js';
import { type Database, DatabaseError, type Queryable } from './port.js';

export interface Migration {
  version: number;
  /** The file's name without its ending, e.g. `0001_jobs`. */
  name: string;
  sql: string;
}

const MIGRATIONS = new URL('../../../migrations/', import.meta.url);

/** One advisory lock for all jobq-dev migrations of a database; the number spells "JOBQ". */
const LOCK = 0x4a4f4251;

/** @returns the migrations of this package, in order. */
export async function migrationFiles(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (file) => ({
      version: Number.parseInt(file, 10),
      name: file.slice(0, -'.sql'.length),
      sql: await readFile(new URL(file, MIGRATIONS), 'utf8'),
    })),
  );
}

/**
 * @returns the migrations that the database has not had.
 * @throws JobqError `database-refused` when the database has migrations of a newer jobq-dev.
 */
export async function pendingMigrations(db: Queryable): Promise<Migration[]> {
  const files = await migrationFiles();
  const applied = await appliedVersions(db);
  return pendingAmong(files, applied);
}

/**
 * Brings the database up to date, all in one transaction: either every pending migration is
 * applied or none. Safe to run again, and from several processes at once: one of them works, the
 * others wait for it and find nothing to do.
 *
 * @returns the names of what was applied, in order; none when it was up to date.
 * @throws JobqError `database-refused` when a migration fails or the database is newer than this
 *   package.
 */
export async function migrate(db: Database): Promise<{ applied: string[] }> {
  // The usual case, without a transaction or a lock.
  if ((await pendingMigrations(db)).length === 0) return { applied: [] };

  return db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
    await tx.exec(`
      create table if not exists jobq_migrations (
        version    int         primary key,
        name       text        not null,
        applied_at timestamptz not null default now()
      )`);
    const pending = await pendingMigrations(tx);
    for (const migration of pending) await apply(tx, migration);
    return { applied: pending.map(({ name }) => name) };
  });
}

async function apply(tx: Queryable, { version, name, sql }: Migration): Promise<void> {
  try {
    await tx.exec(sql);
    await tx.query('insert into jobq_migrations (version, name) values ($1, $2)', [version, name]);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw new JobqError(
      'database-refused',
      `migration ${name} failed: ${error.message} (SQLSTATE ${error.sqlstate})`,
      'Nothing was changed. `jobq-dev migrate --print` shows the statements.',
      { cause: error },
    );
  }
}

/** One statement, because a start waits for it. Inside a transaction the table must be there. */
async function appliedVersions(db: Queryable): Promise<number[]> {
  try {
    const { rows } = await db.query<{ version: number }>('select version from jobq_migrations');
    return rows.map(({ version }) => version);
  } catch (error) {
    const noSuchTable = error instanceof DatabaseError && error.sqlstate === '42P01';
    if (noSuchTable) return [];
    throw error;
  }
}

function pendingAmong(files: Migration[], applied: number[]): Migration[] {
  const newest = files.at(-1)?.version ?? 0;
  const unknown = applied.filter((version) => version > newest).sort((a, b) => a - b);
  if (unknown.length > 0) {
    throw new JobqError(
      'database-refused',
      `the database has migration ${unknown.at(-1)}, and this jobq-dev knows only up to ${newest}`,
      'Use the jobq-dev that migrated it, or a newer one: npm install jobq-dev@latest',
    );
  }
  return files.filter(({ version }) => !applied.includes(version));
}
