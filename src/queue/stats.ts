import type { Queryable } from '../db/port.js';
import type { Status } from '../job/job.js';
import { type Expected, expectedJobs } from './expected.js';

export interface Stats {
  counts: Record<Status, number>;
  /** Due and not yet claimed. */
  due: number;
  /** Which of the numbers above are estimates. A state of up to `COUNTED` jobs never is. */
  estimated: (Status | 'due')[];
  /** Age of the oldest job that is due and not yet claimed: the number to watch. null: none. */
  oldest_waiting_ms: number | null;
  /** When the next job that is not due yet will be; null: none is waiting. */
  next_run_after: Date | null;
  /** Attempts that ended in the last minute. */
  last_minute: { attempts: number; done: number; failed: number };
}

/**
 * Up to here each state is counted. Counting costs as much as there is to count (170 ms for a
 * million done jobs on PGlite, which does nothing else meanwhile), so what is above is estimated:
 * docs/architecture.md says what else was looked at.
 */
export const COUNTED = 10_000;

/** Statistics are believed when by them a state is so far above `COUNTED`: they are from a sample. */
const MARGIN = 2;

// $2: where counting ends, null for nowhere; $3: whether done jobs are left uncounted.
//
// A range of a state and not the state itself, for the reason given in inspect.ts.
//
// The rate comes from the newest 1,000 attempts, or from 10,000 when all of the 1,000 are of the
// last minute. An index on finished_at would find them all, and cost each settle a tenth more
// (measured), since then no update of an attempt is a HOT one.
const SQL = `
with later as materialized (
  select count(*) from (
    select from jobs where status = 'pending' and run_after > $1::timestamptz limit 1001
  ) as counted
)
select
  (select count(*) from (select from jobs where status between 'pending' and 'pending'
     order by status limit $2::int) as counted)::float8 as pending,
  (select count(*) from (select from jobs where status between 'running' and 'running'
     order by status limit $2) as counted)::float8 as running,
  (case when $3::boolean then null else
    (select count(*) from (select from jobs where status between 'done' and 'done'
       order by status limit $2) as counted) end)::float8 as done,
  (select count(*) from (select from jobs where status between 'dead' and 'dead'
     order by status limit $2) as counted)::float8 as dead,
  (select count from later)::float8 as later,
  (case when (select count from later) > 1000 then
    (select count(*) from (select from jobs where status = 'pending' and run_after <= $1
       limit $2) as counted) end)::float8 as due,
  (select extract(epoch from $1 - min(run_after)) * 1000 from jobs
    where status = 'pending' and run_after <= $1)::float8 as oldest_waiting_ms,
  (select min(run_after) from jobs where status = 'pending' and run_after > $1) as next_run_after,
  recent.*
from (
  select count(*)::float8 as attempts,
    count(*) filter (where outcome = 'exited' and exit_code = 0)::float8 as succeeded,
    count(*) filter (where outcome <> 'exited' or exit_code <> 0)::float8 as failed
  from (
    select * from job_attempts order by id desc
    limit case when (
      select finished_at from job_attempts order by id desc offset 999 limit 1
    ) > $1 - interval '1 minute' then 10000 else 1000 end
  ) as newest
  where finished_at > $1 - interval '1 minute' and outcome <> 'released'
) as recent`;

interface Found extends Record<Status, number | null>, Record<string, unknown> {
  /** Pending and not due, if few. */
  later: number;
  /** null: it is what `later` leaves of the pending ones. */
  due: number | null;
  oldest_waiting_ms: number | null;
  next_run_after: Date | null;
  attempts: number;
  succeeded: number;
  failed: number;
}

/**
 * How the queue stands at `now`.
 * @param options.exact counts everything, however long that takes.
 */
export async function stats(
  db: Queryable,
  { now, exact = false }: { now: Date; exact?: boolean },
): Promise<Stats> {
  const expected = exact ? new Map<Status, Expected>() : await expectedJobs(db);
  const limit = exact ? null : COUNTED + 1;
  const { rows } = await db.query<Found>(SQL, [now, limit, isSurelyMany(expected.get('done'))]);
  const row = rows[0]!;
  return {
    ...judge(row, expected, limit ?? Number.POSITIVE_INFINITY),
    oldest_waiting_ms: row.oldest_waiting_ms === null ? null : Math.round(row.oldest_waiting_ms),
    next_run_after: row.next_run_after,
    last_minute: { attempts: row.attempts, done: row.succeeded, failed: row.failed },
  };
}

/**
 * Whether it need not be counted. Asked for done jobs only: they are most of the table, and are not
 * many at one moment and gone at the next.
 */
function isSurelyMany(expected: Expected | undefined): boolean {
  return expected !== undefined && expected.jobs - expected.changed > MARGIN * COUNTED;
}

/** What was counted to its end stands; the rest is taken from what the statistics expect. */
function judge(
  row: Found,
  expected: Map<Status, Expected>,
  limit: number,
): Pick<Stats, 'counts' | 'due' | 'estimated'> {
  const estimated: Stats['estimated'] = [];
  const estimate = (name: Status | 'due', jobs: number) => {
    estimated.push(name);
    return jobs;
  };
  const inState = (status: Status) => {
    const counted = row[status];
    return counted !== null && counted < limit
      ? counted
      : estimate(status, Math.max(COUNTED, Math.round(expected.get(status)?.jobs ?? 0)));
  };
  const counts = {
    pending: inState('pending'),
    running: inState('running'),
    done: inState('done'),
    dead: inState('dead'),
  };
  if (row.due !== null) {
    return { counts, due: row.due < limit ? row.due : estimate('due', COUNTED), estimated };
  }
  const due = counts.pending - row.later;
  return { counts, due: estimated.includes('pending') ? estimate('due', due) : due, estimated };
}
