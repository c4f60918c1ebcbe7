import type { Queryable } from '../db/port.js';
import type { Status } from '../job/job.js';

export interface Stats {
  counts: Record<Status, number>;
  /** Due and not yet claimed. */
  due: number;
  /** Age of the oldest job that is due and not yet claimed: the number to watch. null: none. */
  oldest_waiting_ms: number | null;
  /** When the next job that is not due yet will be; null: none is waiting. */
  next_run_after: Date | null;
  /** Attempts that ended in the last minute. */
  last_minute: { attempts: number; done: number; failed: number };
}

const SQL = `
select
  (select count(*) from jobs where status = 'pending')::float8 as pending,
  (select count(*) from jobs where status = 'running')::float8 as running,
  (select count(*) from jobs where status = 'done')::float8 as done,
  (select count(*) from jobs where status = 'dead')::float8 as dead,
  (select count(*) from jobs where status = 'pending' and run_after <= $1::timestamptz)::float8
    as due,
  (select extract(epoch from $1::timestamptz - min(run_after)) * 1000 from jobs
    where status = 'pending' and run_after <= $1::timestamptz)::float8 as oldest_waiting_ms,
  (select min(run_after) from jobs where status = 'pending' and run_after > $1::timestamptz) as next_run_after,
  recent.*
from (
  select count(*)::float8 as attempts,
    count(*) filter (where outcome = 'exited' and exit_code = 0)::float8 as succeeded,
    count(*) filter (where outcome <> 'exited' or exit_code <> 0)::float8 as failed
  from (select * from job_attempts order by id desc limit 10000) as newest
  where finished_at > $1::timestamptz - interval '1 minute' and outcome <> 'released'
) as recent`;

/** How the queue stands at `now`. */
export async function stats(db: Queryable, { now }: { now: Date }): Promise<Stats> {
  const { rows } = await db.query<
    Record<Status | 'due' | 'attempts' | 'succeeded' | 'failed', number> & {
      oldest_waiting_ms: number | null;
      next_run_after: Date | null;
    }
  >(SQL, [now]);
  const row = rows[0]!;
  return {
    counts: { pending: row.pending, running: row.running, done: row.done, dead: row.dead },
    due: row.due,
    oldest_waiting_ms: row.oldest_waiting_ms === null ? null : Math.round(row.oldest_waiting_ms),
    next_run_after: row.next_run_after,
    last_minute: { attempts: row.attempts, done: row.succeeded, failed: row.failed },
  };
}
