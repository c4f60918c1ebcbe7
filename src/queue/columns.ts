/**
 * The columns of a job as every statement of the queue returns them; the payload as text, so that
 * no driver parses it.
 */
export const JOB_COLUMNS = `jobs.id, jobs.kind, jobs.payload::text as payload, jobs.status,
  jobs.attempts, jobs.max_attempts, jobs.run_after, jobs.locked_at, jobs.last_error,
  jobs.created_at, jobs.claim_id, jobs.finished_at, jobs.parent_id`;
