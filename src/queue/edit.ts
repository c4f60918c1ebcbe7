import { DatabaseError, type Queryable } from '../db/port.js';
import { JobqError } from '../errors.js';
import type { Job } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';
import { enqueue, refusedInput } from './enqueue.js';
import { findJob } from './find.js';

export interface Changes {
  /** JSON text. */
  payload?: string | undefined;
  runAfter?: Date | undefined;
  maxAttempts?: number | undefined;
}

const SQL = `
update jobs set
  payload = coalesce($2::text::jsonb, payload),
  run_after = coalesce($3::timestamptz, run_after),
  max_attempts = coalesce($4::int, max_attempts)
where id = $1::bigint and status = 'pending'
returning ${JOB_COLUMNS}`;

/**
 * Changes a pending job in place. A job that is over keeps its history: an edited copy is inserted
 * instead, which names it as its parent.
 * @returns the job that will run.
 * @throws JobqError `not-found`; `conflict` for a running job; `input` for values that the table
 *   refuses.
 */
export async function edit(
  db: Queryable,
  { id, changes, now }: { id: string; changes: Changes; now: Date },
): Promise<Job> {
  for (;;) {
    const found = await findJob(db, id);
    if (found.status === 'running') throw running(id);
    const edited =
      found.status === 'pending'
        ? await editInPlace(db, id, changes)
        : await insertCopy(db, found, changes, now);
    if (edited !== undefined) return edited;
    // Claimed, cancelled or pruned since the look: look again.
  }
}

/** @returns undefined when the job is not pending any more. */
async function editInPlace(db: Queryable, id: string, changes: Changes): Promise<Job | undefined> {
  try {
    const { rows } = await db.query<Job & Record<string, unknown>>(SQL, [
      id,
      changes.payload ?? null,
      changes.runAfter ?? null,
      changes.maxAttempts ?? null,
    ]);
    return rows[0];
  } catch (error) {
    throw refusedInput(error);
  }
}

/** @returns undefined when its parent is gone. */
async function insertCopy(
  db: Queryable,
  { id, kind, payload, max_attempts }: Job,
  changes: Changes,
  now: Date,
): Promise<Job | undefined> {
  try {
    const copy = {
      kind,
      payload: changes.payload ?? payload,
      runAfter: changes.runAfter,
      maxAttempts: changes.maxAttempts ?? max_attempts,
      parentId: id,
    };
    const [copyId] = await enqueue(db, { jobs: [copy], now });
    return await findJob(db, copyId!);
  } catch (error) {
    if (error instanceof DatabaseError && error.detail.constraint === 'jobs_parent_id_fkey') {
      return undefined;
    }
    throw error;
  }
}

function running(id: string): JobqError {
  return new JobqError(
    'conflict',
    `job ${id} is running, and its handler has its payload already`,
    `Wait for it to end, or cancel it first: jobq-dev jobs cancel ${id}`,
  );
}
