import type { Queryable } from '../db/port.js';
import type { Status } from '../job/job.js';

/** What a job came to, for comparing it with what was expected of it. */
export interface End {
  id: string;
  kind: string;
  status: Status;
  attempts: number;
  last_error: string | null;
  /** stdout of its last attempt. */
  stdout: string | null;
}

const SQL = `
select jobs.id, kind, status, attempts, last_error,
  (select stdout from job_attempts where job_id = jobs.id order by id desc limit 1) as stdout
from jobs
where (jobs.id = any($1::bigint[]) or (status = 'dead' and $2::boolean))
order by jobs.id`;

/** How the given jobs stand. */
export async function endsOf(db: Queryable, ids: readonly string[]): Promise<End[]> {
  const { rows } = await db.query<End & Record<string, unknown>>(SQL, [ids, false]);
  return rows;
}

/** Every dead job. */
export async function deadJobs(db: Queryable): Promise<End[]> {
  const { rows } = await db.query<End & Record<string, unknown>>(SQL, [[], true]);
  return rows;
}
