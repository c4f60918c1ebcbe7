// @ts-check
/** A database as an older version has left it: one migration, and jobs. */
import { migrationFiles } from '#src/db/migrate.js';
import { openDatabase } from '#src/db/open.js';

/** Enough for the migrations to take a while. */
export const OLD_JOBS = 20_000;

/** @param {string} dataDir */
export async function makeOldDatabase(dataDir) {
  const { db, lock } = await openDatabase({ dataDir, command: 'test' });
  const [first] = await migrationFiles();
  if (first === undefined) throw new Error('there are no migrations');
  await db.exec(
    `drop table job_attempts, jobs; delete from jobq_migrations where version > 1; ${first.sql}`,
  );
  await db.query(
    `insert into jobs (kind, payload, status, attempts)
     select 'old', '{}', case when n % 2 = 0 then 'done' else 'pending' end, 1
     from generate_series(1, $1::int) as n`,
    [OLD_JOBS],
  );
  await db.close();
  lock?.release();
}
