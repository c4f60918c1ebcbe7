import type { Queryable } from '../db/port.js';
import { JobqError } from '../errors.js';
import type { Job } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';
import { findJob } from './find.js';

// The row is locked first, so that what it was before is what was cancelled.
const SQL = `
with target as materialized (
  select id, status, claim_id from jobs
  where id = $1::bigint and status in ('pending', 'running')
  for update
), cancelled as (
  update jobs
  set status = 'dead', finished_at = $2::timestamptz, last_error = 'cancelled by hand',
      locked_at = null, claim_id = null
  from target
  where jobs.id = target.id
  returning ${JOB_COLUMNS}
), logged as (
  update job_attempts set error = 'cancelled by hand'
  from target
  where job_attempts.claim_id = target.claim_id and outcome is null
)
select cancelled.*, target.claim_id as was_claim_id from cancelled, target`;

/**
 * pending or running → dead, by hand.
 * @returns the job, and the claim that it took from a running attempt: the drainer that holds it
 *   kills the sandbox (at once when it is told, else at its next heartbeat).
 * @throws JobqError `not-found`; `conflict` when the job is over already.
 */
export async function cancel(
  db: Queryable,
  { id, now }: { id: string; now: Date },
): Promise<{ job: Job; claimId: string | undefined }> {
  const found = await findJob(db, id);
  const { rows } = await db.query<Job & { was_claim_id: string | null } & Record<string, unknown>>(
    SQL,
    [id, now],
  );
  const row = rows[0];
  if (row === undefined) {
    throw new JobqError(
      'conflict',
      `job ${id} is ${found.status} already`,
      'Only a pending or running job can be cancelled.',
    );
  }
  const { was_claim_id, ...job } = row;
  return { job, claimId: was_claim_id ?? undefined };
}
