import type { Queryable } from '../db/port.js';
import { JobqError } from '../errors.js';
import type { Job } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';

/** Ids that a bigint can hold; anything else names no job. */
const ID = /^\d{1,18}$/;

/**
 * @throws JobqError `not-found`, naming the id as it was given.
 */
export async function findJob(db: Queryable, id: string): Promise<Job> {
  const { rows } = ID.test(id)
    ? await db.query<Job & Record<string, unknown>>(
        `select ${JOB_COLUMNS} from jobs where id = $1::bigint`,
        [id],
      )
    : { rows: [] };
  const job = rows[0];
  if (job === undefined) {
    throw new JobqError(
      'not-found',
      `there is no job ${JSON.stringify(id)}`,
      'jobq-dev jobs list shows the jobs and their ids.',
    );
  }
  return job;
}
