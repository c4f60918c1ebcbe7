import type { Queryable } from './port.js';

/** Fewer changed rows than this are not worth a pass, however small the table is. */
const AT_LEAST_ROWS = 1_000;
/** Autovacuum's own default (`autovacuum_vacuum_scale_factor`). */
const AT_LEAST_PART = 0.2;

/**
 * Which of our tables have changed enough to be vacuumed and analyzed. The server counts changes
 * itself, so those of the app and of other connections are in it. About a millisecond.
 *
 * @returns names that are safe to put into a statement.
 */
export async function worthVacuuming(db: Queryable): Promise<string[]> {
  // Without it the counts may be a second old.
  await db.query('select pg_stat_force_next_flush()');
  const { rows } = await db.query<{ relname: string }>(
    `select relname::text
       from pg_stat_user_tables
      where relname in ('jobs', 'job_attempts')
        and greatest(n_dead_tup, n_mod_since_analyze)
            >= greatest($1, $2::float8 * n_live_tup)
      order by relname`,
    [AT_LEAST_ROWS, AT_LEAST_PART],
  );
  return rows.map(({ relname }) => relname);
}
