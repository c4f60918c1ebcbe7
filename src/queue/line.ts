import type { Queryable } from '../db/port.js';
import { AHEAD_COUNTED } from '../job/explain.js';
import type { Job } from '../job/job.js';

/** What stands between a pending job and a claim, as the table knows it. */
export interface PlaceInLine {
  /** Due jobs that the claim order puts before this one; counted up to `AHEAD_COUNTED` + 1. */
  ahead: number;
  /** Jobs that are running. */
  running: number;
}

// Without `attempts < max_attempts`, which the claim asks for too: the next tick makes such a job
// dead, and this way the index alone is read.
const SQL = `
select
  (select count(*) from (
     select from jobs
     where status = 'pending' and run_after <= $1::timestamptz
       and (run_after, id) < (select run_after, id from jobs where id = $2::bigint)
     limit $3::int) as before)::float8 as ahead,
  (select count(*) from jobs where status = 'running')::float8 as running`;

/** Where a pending job stands in the line of claims. */
export async function placeInLine(
  db: Queryable,
  { job, now }: { job: Job; now: Date },
): Promise<PlaceInLine> {
  const { rows } = await db.query<{ ahead: number; running: number }>(SQL, [
    now,
    job.id,
    AHEAD_COUNTED + 1,
  ]);
  return rows[0]!;
}
