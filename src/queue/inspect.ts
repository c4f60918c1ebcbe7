import type { Queryable } from '../db/port.js';
import type { Attempt, Job, Status } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';
import { findJob } from './find.js';

export interface JobFilter {
  status?: Status | undefined;
  kind?: string | undefined;
  /** Only jobs with a smaller id than this: the cursor of the next page. */
  before?: string | undefined;
  limit: number;
}

// A list shows one line of an error and a glance of a payload. Megabytes in either stay in the
// table (good_job 1769).
const LISTED = JOB_COLUMNS.replace('jobs.last_error', 'left(jobs.last_error, 2000) as last_error');

/** Jobs, newest first. */
export async function listJobs(db: Queryable, filter: JobFilter): Promise<Job[]> {
  const { rows } = await db.query<Job & Record<string, unknown>>(
    `select ${LISTED} from jobs
     where ($1::text is null or status = $1) and ($2::text is null or kind = $2)
       and ($3::bigint is null or id < $3)
     order by id desc
     limit $4::int`,
    [filter.status ?? null, filter.kind ?? null, filter.before ?? null, filter.limit],
  );
  return rows;
}

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
