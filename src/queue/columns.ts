/**
 * The columns of a job as every statement of the queue returns them; the payload as text, so that
 * no driver parses it.
 */
export const JOB_COLUMNS = `jobs.id, jobs.kind, jobs.payload::text as payload, jobs.status,
  jobs.attempts, jobs.max_attempts, jobs.run_after, jobs.locked_at, jobs.last_error,
  jobs.created_at, jobs.claim_id, jobs.finished_at, jobs.parent_id`;

/**
 * Of a row of `job_attempts`: its drainer has not yet said what the attempt came to. It runs, or the
 * reaper or a cancel took it for lost. What a drainer has said stays: it says so again when a
 * broken connection swallowed the answer.
 */
export const NOT_HEARD_OF = "(outcome is null or outcome = 'lost' and duration_ms is null)";
