import type { Param, Queryable } from '../db/port.js';
import { type Attempt, type Job, STATUSES, type Status } from '../job/job.js';
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

const NEWEST = `
select ${LISTED} from jobs
where id < $1::bigint
order by id desc
limit $2::int`;

// A range of the index on status, read from its newest end. Asked for as a range of both columns,
// and ordered by both, so that the planner has no other way to that order: with `status = 'done'` it
// may walk the whole table by id, since most jobs are done, through however many pending ones are
// newer (measured with 100,000 of them: 18 ms for 0.5).
const NEWEST_OF_STATUS = `
select ${LISTED} from jobs
where (status, id) >= ($1::text, 0) and (status, id) < ($1, $2::bigint)
order by status desc, id desc
limit $3::int`;

// The same, of the index on kinds: one range for each state, of which the newest are taken. Only of
// a longer kind is there more to compare than the index holds.
const NEWEST_OF_KIND = `
select ${LISTED} from (
  select found.id from unnest($1::text[]) as wanted(status), lateral (
    select id from jobs
    where (left(kind, 100), status, id) >= (left($2::text, 100), wanted.status, 0)
      and (left(kind, 100), status, id) < (left($2, 100), wanted.status, $3::bigint)
      and (length($2) < 100 or kind = $2)
    order by left(kind, 100) desc, status desc, id desc
    limit $4::int
  ) as found
  order by id desc
  limit $4
) as newest
join jobs on jobs.id = newest.id
order by jobs.id desc`;

/** Above every id. */
const NO_ID = '9223372036854775807';

/** Jobs, newest first. */
export async function listJobs(
  db: Queryable,
  { status, kind, before = NO_ID, limit }: JobFilter,
): Promise<Job[]> {
  const [sql, params]: [string, Param[]] =
    kind !== undefined
      ? [NEWEST_OF_KIND, [status === undefined ? STATUSES : [status], kind, before, limit]]
      : status !== undefined
        ? [NEWEST_OF_STATUS, [status, before, limit]]
        : [NEWEST, [before, limit]];
  const { rows } = await db.query<Job & Record<string, unknown>>(sql, params);
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
