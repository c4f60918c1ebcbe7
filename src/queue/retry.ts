import type { Queryable } from '../db/port.js';
import { JobqError } from '../errors.js';
import type { Job, Status } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';
import { findJob } from './find.js';

const REVIVE = `
update jobs
set status = 'pending', attempts = 0, run_after = $1::timestamptz, finished_at = null`;

/**
 * dead → pending by hand: attempts start again at 0, the history stays.
 * @throws JobqError `not-found`; `conflict` when the job is not dead.
 */
export async function retry(db: Queryable, { id, now }: { id: string; now: Date }): Promise<Job> {
  for (;;) {
    const { status } = await findJob(db, id);
    if (status !== 'dead') throw notDead(id, status);
    const { rows } = await db.query<Job & Record<string, unknown>>(
      `${REVIVE} where id = $2::bigint and status = 'dead' returning ${JOB_COLUMNS}`,
      [now, id],
    );
    if (rows[0] !== undefined) return rows[0];
    // Retried by somebody else since the look: look again.
  }
}

function notDead(id: string, status: Status): JobqError {
  return new JobqError(
    'conflict',
    `job ${id} is ${status}, and only a dead job can be retried`,
    status === 'pending'
      ? `jobq-dev jobs explain ${id} says what it is waiting for.`
      : `jobq-dev jobs edit ${id} --payload … runs an edited copy of it.`,
  );
}

/**
 * Retries every dead job, or every dead job of one kind.
 * @returns how many.
 */
export async function retryAll(
  db: Queryable,
  { kind, now }: { kind?: string | undefined; now: Date },
): Promise<number> {
  const { rowCount } = await db.query(
    `${REVIVE} where status = 'dead' and ($2::text is null or kind = $2)`,
    [now, kind ?? null],
  );
  return rowCount;
}
