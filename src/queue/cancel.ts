import type { Queryable } from '../db/port.js';
import { JobqError } from '../errors.js';
import type { Job } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';
import { findJob } from './find.js';

// The claim is the one that was seen before this statement began, so the record of its attempt is
// visible to it. A claim that comes while a statement waits for the row would not have been: its
// attempt would stay open for ever. The attempt counts as lost until its drainer has killed it and
// says what it came to; should that drainer be dead, so it stays.
const SQL = `
with cancelled as (
  update jobs
  set status = 'dead', finished_at = $2::timestamptz, last_error = 'cancelled by hand',
      locked_at = null, claim_id = null
  where id = $1::bigint and status in ('pending', 'running')
    and claim_id is not distinct from $3::uuid
  returning ${JOB_COLUMNS}
), logged as (
  update job_attempts set outcome = 'lost', finished_at = $2, error = 'cancelled by hand'
  where claim_id = $3 and outcome is null and exists (select from cancelled)
)
select * from cancelled`;

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
  for (;;) {
    const { status, claim_id } = await findJob(db, id);
    if (status === 'done' || status === 'dead') {
      throw new JobqError(
        'conflict',
        `job ${id} is ${status} already`,
        'Only a pending or running job can be cancelled.',
      );
    }
    const { rows } = await db.query<Job & Record<string, unknown>>(SQL, [id, now, claim_id]);
    if (rows[0] !== undefined) return { job: rows[0], claimId: claim_id ?? undefined };
    // Claimed, settled or reaped since the look: look again.
  }
}
