import type { Queryable } from '../db/port.js';
import { NOT_HEARD_OF } from './columns.js';

const SQL = `
with released as (
  update jobs
  set status = 'pending', attempts = greatest(attempts - 1, 0), locked_at = null, claim_id = null
  where id = $1::bigint and status = 'running' and claim_id = $2::uuid
  returning id
), logged as (
  update job_attempts
  set outcome = case when exists (select from released) then 'released' else 'superseded' end,
      finished_at = $3::timestamptz, error = coalesce(error, 'given back: the drainer was stopped')
  where claim_id = $2 and ${NOT_HEARD_OF}
)
select id from released
union all
select job_id from job_attempts where claim_id = $2 and outcome = 'released'`;

/**
 * running → pending with the attempt given back: shutdown, not the handler, ended it. The job
 * keeps its place in the line. May be repeated when the answer got lost.
 * @returns whether the claim was still this owner's.
 */
export async function release(
  db: Queryable,
  { id, claimId, now }: { id: string; claimId: string; now: Date },
): Promise<boolean> {
  const { rows } = await db.query(SQL, [id, claimId, now]);
  return rows.length > 0;
}
