import type { Queryable } from '../db/port.js';
import type { Job } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';

/** A job that this caller owns until it settles, releases or loses it. */
export interface Claim extends Job {
  claim_id: string;
  locked_at: Date;
}

// The locking select stands in a MATERIALIZED CTE: as `id IN (SELECT … LIMIT n … SKIP LOCKED)` a
// nested-loop plan runs it once a row and claims far more than n (seen on Postgres 15; queue_classic
// 320, odd-jobs 115). An update returns rows in any order, so the order is made again at the end.
/** $1 now, $2 limit, $3 provider, $4 isolation. */
export const CLAIM_SQL = `
with due as materialized (
  select id from jobs
  where status = 'pending' and run_after <= $1::timestamptz and attempts < max_attempts
  order by run_after, id
  limit $2::int
  for update skip locked
), claimed as (
  update jobs
  set status = 'running', attempts = attempts + 1, locked_at = $1::timestamptz,
      claim_id = gen_random_uuid()
  from due
  where jobs.id = due.id
  returning ${JOB_COLUMNS}
), begun as (
  insert into job_attempts (job_id, attempt, claim_id, provider, isolation, started_at)
  select id, attempts, claim_id, $3::text, $4::text, $1::timestamptz from claimed
)
select * from claimed order by run_after, id`;

/**
 * Claims at most `limit` due jobs, oldest first: due → running. Each gets a fresh `claim_id`, and
 * its attempt is on record before anything runs, so a lost one is known by its provider.
 */
export async function claim(
  db: Queryable,
  options: { limit: number; now: Date; provider: string; isolation: string },
): Promise<Claim[]> {
  const { limit, now, provider, isolation } = options;
  if (limit < 1) return [];
  const { rows } = await db.query<Claim & Record<string, unknown>>(CLAIM_SQL, [
    now,
    limit,
    provider,
    isolation,
  ]);
  return rows;
}
