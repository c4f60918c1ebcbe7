import type { Queryable } from './port.js';

/** Fewer changed rows than this are not worth a pass, however small the table is. */
const AT_LEAST_ROWS = 1_000;
/** Autovacuum's own defaults (`autovacuum_vacuum_scale_factor`, `…_analyze_scale_factor`). */
const VACUUM_PART = 0.2;
const ANALYZE_PART = 0.1;
/**
 * So many are always worth one, however large the table is. Each claim walks over the index entries
 * that earlier claims have left, so a fifth of a million rows is too late (measured with 1,100,000
 * rows on PGlite: a vacuum of 10,000 dead ones takes 0.1 s, an analyze 0.3 s).
 */
const VACUUM_ROWS = 10_000;
const ANALYZE_ROWS = 25_000;

/**
 * What a server with autovacuum would do by now to our tables. The server counts changes itself, so
 * those of the app and of other connections are in it. About a millisecond.
 *
 * @returns statements to run, one by one.
 */
export async function maintenanceDue(db: Queryable): Promise<string[]> {
  // Without it the counts may be a second old.
  await db.query('select pg_stat_force_next_flush()');
  const { rows } = await db.query<{ relname: string; vacuum: boolean; analyze: boolean }>(
    `select relname::text,
       greatest(n_dead_tup, n_ins_since_vacuum)
         >= greatest($1, least($2::float8 * n_live_tup, $3)) as vacuum,
       n_mod_since_analyze >= greatest($1, least($4::float8 * n_live_tup, $5)) as analyze
     from pg_stat_user_tables
     where relname in ('jobs', 'job_attempts')
     order by relname`,
    [AT_LEAST_ROWS, VACUUM_PART, VACUUM_ROWS, ANALYZE_PART, ANALYZE_ROWS],
  );
  return rows.flatMap(({ relname, vacuum, analyze }) => [
    // By itself a vacuum leaves the indexes alone when few pages have dead rows: a queue's have.
    ...(vacuum ? [`vacuum (index_cleanup on) ${relname}`] : []),
    ...(analyze ? [`analyze ${relname}`] : []),
  ]);
}
