import type { Queryable } from '../db/port.js';
import type { Status } from '../job/job.js';

// The partial index of a state knows how many jobs it held at the last ANALYZE, and the server how
// many rows of the table have changed since. The indexes are found by what they hold, not by name: a
// production database may have made its own. A server that has crashed has forgotten both when it
// analyzed and what changed, and is not asked.
const SQL = `
select
  substring(pg_get_expr(indpred, indrelid) from '^\\(status = ''(\\w+)''::text\\)$') as status,
  max(reltuples)::float8 as jobs,
  max(pg_stat_get_mod_since_analyze(indrelid))::float8 as changed
from pg_index join pg_class on pg_class.oid = indexrelid
where indrelid = 'jobs'::regclass
  and coalesce(pg_stat_get_last_analyze_time(indrelid),
               pg_stat_get_last_autoanalyze_time(indrelid)) is not null
group by 1`;

/** How many jobs the server's statistics expect in a state. */
export interface Expected {
  jobs: number;
  /** Rows that have changed since, of any state: so far off the number may be, at most. */
  changed: number;
}

/** What the server's statistics say of the states that they know. Costs the same for any table. */
export async function expectedJobs(db: Queryable): Promise<Map<Status, Expected>> {
  const { rows } = await db.query<Expected & { status: Status | null } & Record<string, unknown>>(
    SQL,
  );
  return new Map(
    rows.flatMap(({ status, jobs, changed }) =>
      status === null ? [] : [[status, { jobs, changed }]],
    ),
  );
}
