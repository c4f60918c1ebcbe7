import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { migrate } from '#src/db/migrate.js';
import { openPglite } from '#src/db/pglite.js';
import type { Database } from '#src/db/port.js';
import { openPostgres } from '#src/db/postgres.js';
import { TEMPLATE_TAR } from '#src/db/template.js';

/** The template that `freshDatabase` copies; made once a run, by whichever file comes first. */
const TEMPLATE = 'jobq_migrated';

/** Runs statements as superuser on the maintenance database. */
async function asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function urlOf(database: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${database}`;
  return url.href;
}

/** @returns the URL of a new database without any tables. */
export async function emptyDatabaseUrl(): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin((client) => client.query(`create database ${name} template template0`));
  return urlOf(name);
}

/** @returns the URL of a new database with all migrations applied. */
export async function freshDatabaseUrl(): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(async (client) => {
    // One file at a time makes the template and copies it: CREATE DATABASE refuses a template that
    // somebody is connected to.
    await client.query('select pg_advisory_lock(1)');
    const made = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE]);
    if (made.rowCount === 0) {
      const draft = `${TEMPLATE}_draft`;
      await client.query(`create database ${draft} template template0`);
      const db = await openPostgres({ databaseUrl: urlOf(draft) });
      await migrate(db);
      await db.close();
      await client.query(`alter database ${draft} rename to ${TEMPLATE}`);
    }
    await client.query(`create database ${name} template ${TEMPLATE}`);
  });
  return urlOf(name);
}

/** An empty migrated database on the server of this run. Close it; the server's end deletes it. */
export async function freshDatabase(): Promise<Database> {
  return openPostgres({ databaseUrl: await freshDatabaseUrl() });
}

/** An empty migrated PGlite in memory. Close it. */
export async function freshMemoryDatabase(): Promise<Database> {
  const db = await openPglite({ dataDir: 'memory', templatePath: TEMPLATE_TAR });
  await migrate(db);
  return db;
}
