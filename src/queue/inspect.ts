import type { Queryable } from '../db/port.js';
import type { Attempt, Job } from '../job/job.js';
import { findJob } from './find.js';

/**
 * One job with its attempts, oldest first.
 * @throws JobqError `not-found`
 */
export async function showJob(
  db: Queryable,
  id: string,
): Promise<Job & { attempts_log: Attempt[] }> {
  const job = await findJob(db, id);
  const { rows } = await db.query<Attempt & Record<string, unknown>>(
    `select id, job_id, attempt, claim_id, provider, isolation, started_at, finished_at, outcome,
       exit_code, signal, duration_ms::float8 as duration_ms,
       peak_memory_bytes::float8 as peak_memory_bytes, stdout, stderr,
       stdout_bytes::float8 as stdout_bytes, stderr_bytes::float8 as stderr_bytes, error
     from job_attempts where job_id = $1::bigint order by id`,
    [id],
  );
  return { ...job, attempts_log: rows };
}
