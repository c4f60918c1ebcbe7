import type { Queryable } from '../db/port.js';

const SQL = `
with released as (
  update jobs
  set status = 'pending', attempts = greatest(attempts - 1, 0), locked_at = null, claim_id = null
  where id = $1::bigint and status = 'running' and claim_id = $2::uuid
  returning id
), logged as (
  update job_attempts
  -- Released already: an earlier try did it, and its answer was lost with the connection.
  set outcome = case when exists (select from released) or outcome = 'released' then 'released'
                     else 'superseded' end,
      finished_at = $3::timestamptz, error = 'given back: the drainer was stopped'
  where claim_id = $2
  returning job_id as id, outcome
)
select id from released
union all
select id from logged where outcome = 'released' and not exists (select from released)`;

/**
 * running → pending with the attempt given back: shutdown, not the handler, ended it. The job
 * keeps its place in the line. It may be sent again when no answer came: it counts once.
 * @returns whether the claim was still this owner's.
 */
export async function release(
  db: Queryable,
  { id, claimId, now }: { id: string; claimId: string; now: Date },
): Promise<boolean> {
  const { rows } = await db.query(SQL, [id, claimId, now]);
  return rows.length > 0;
}
