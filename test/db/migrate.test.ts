import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate, migrationFiles, pendingMigrations } from '#src/db/migrate.js';
import type { Database } from '#src/db/port.js';
import { openPostgres } from '#src/db/postgres.js';
import { emptyDatabaseUrl, freshDatabase, freshMemoryDatabase } from '../support/postgres.js';
import { dumpSchema } from './schema-dump.js';

const SCHEMA = new URL('./schema.sql', import.meta.url);

async function use(opening: Promise<Database>): Promise<Database> {
  const db = await opening;
  onTestFinished(() => db.close());
  return db;
}

const emptyPostgres = async () => openPostgres({ databaseUrl: await emptyDatabaseUrl() });

describe('the migrated schema', () => {
  it.each([
    ['PGlite', freshMemoryDatabase],
    ['Postgres', freshDatabase],
  ])('on %s is the one in schema.sql (UPDATE_SCHEMA=1 writes it)', async (_driver, open) => {
    const dump = await dumpSchema(await use(open()));
    if (process.env.UPDATE_SCHEMA) writeFileSync(SCHEMA, dump);
    expect(dump).toBe(readFileSync(SCHEMA, 'utf8'));
  });

  it.each([
    ['an unknown status', `update jobs set status = 'odd'`, 'jobs_status_known'],
    ['negative attempts', 'update jobs set attempts = -1', 'jobs_attempts_not_negative'],
    ['too many attempts', 'update jobs set attempts = 4', 'jobs_attempts_within_max'],
    ['running unlocked', `update jobs set status = 'running'`, 'jobs_running_is_locked'],
  ])('refuses %s', async (_what, sql, constraint) => {
    const db = await use(freshDatabase());
    await db.query(`insert into jobs (kind, payload) values ('a', '{}')`);
    await expect(db.query(sql)).rejects.toMatchObject({ detail: { constraint } });
  });
});

describe('migrate', () => {
  it('applies everything once', async () => {
    const db = await use(emptyPostgres());
    const names = (await migrationFiles()).map(({ name }) => name);
    expect(names[0]).toBe('0001_jobs');
    expect((await pendingMigrations(db)).map(({ name }) => name)).toEqual(names);
    expect(await migrate(db)).toEqual({ applied: names });
    expect(await migrate(db)).toEqual({ applied: [] });
    expect(await pendingMigrations(db)).toEqual([]);
  });

  it('applies everything once, from many processes at the same time', async () => {
    const url = await emptyDatabaseUrl();
    const all = await Promise.all(
      Array.from({ length: 8 }, () => use(openPostgres({ databaseUrl: url }))),
    );
    const results = await Promise.all(all.map((db) => migrate(db)));
    const names = (await migrationFiles()).map(({ name }) => name);
    expect(results.filter(({ applied }) => applied.length > 0)).toEqual([{ applied: names }]);
  });

  it('takes over the table that production has, and repairs what breaks the rules', async () => {
    const db = await use(emptyPostgres());
    const [first] = await migrationFiles();
    await db.exec(first!.sql);
    await db.exec(`
      insert into jobs (kind, payload, status, attempts, max_attempts, locked_at) values
        ('fine',     '{"n": 1.10}', 'running', 1, 3, '2026-01-01'),
        ('over',     '{}',          'dead',    5, 3, null),
        ('negative', '{}',          'pending', -1, 3, null),
        ('unlocked', '{}',          'running', 1, 3, null)`);
    await migrate(db);
    const { rows } = await db.query(
      `select kind, payload, status, attempts, max_attempts, locked_at is not null as locked
         from jobs order by id`,
    );
    expect(rows).toEqual([
      {
        kind: 'fine',
        payload: '{"n": 1.10}',
        status: 'running',
        attempts: 1,
        max_attempts: 3,
        locked: true,
      },
      { kind: 'over', payload: '{}', status: 'dead', attempts: 5, max_attempts: 5, locked: false },
      {
        kind: 'negative',
        payload: '{}',
        status: 'pending',
        attempts: 0,
        max_attempts: 3,
        locked: false,
      },
      {
        kind: 'unlocked',
        payload: '{}',
        status: 'running',
        attempts: 1,
        max_attempts: 3,
        locked: true,
      },
    ]);
  });

  it('changes nothing when one of them fails, and names it', async () => {
    const db = await use(emptyPostgres());
    await db.exec('create table job_attempts (other text)');
    await expect(migrate(db)).rejects.toMatchObject({
      code: 'database-refused',
      message: expect.stringMatching(/^migration 0003_job_attempts failed: .*42P07/),
    });
    const { rows } = await db.query(`select to_regclass('jobs') is null as untouched`);
    expect(rows).toEqual([{ untouched: true }]);
  });

  it('leaves a newer database alone', async () => {
    const db = await use(freshDatabase());
    await db.query(`insert into jobq_migrations (version, name) values (9999, '9999_future')`);
    await expect(migrate(db)).rejects.toMatchObject({
      code: 'database-refused',
      message: expect.stringContaining('migration 9999'),
      hint: expect.stringContaining('jobq-dev@latest'),
    });
  });
});
