import type { Queryable } from '../db/port.js';
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
  const found = await findJob(db, id);
  if (found.status === 'running') throw running(id);
  if (found.status === 'pending') {
    try {
      const { rows } = await db.query<Job & Record<string, unknown>>(SQL, [
        id,
        changes.payload ?? null,
        changes.runAfter ?? null,
        changes.maxAttempts ?? null,
      ]);
      if (rows[0] !== undefined) return rows[0];
    } catch (error) {
      throw refusedInput(error);
    }
    // Claimed between the look and the update.
    throw running(id);
  }
  const [copy] = await enqueue(db, {
    jobs: [
      {
        kind: found.kind,
        payload: changes.payload ?? found.payload,
        runAfter: changes.runAfter,
        maxAttempts: changes.maxAttempts ?? found.max_attempts,
        parentId: id,
      },
    ],
    now,
  });
  return findJob(db, copy!);
}

function running(id: string): JobqError {
  return new JobqError(
    'conflict',
    `job ${id} is running, and its handler has its payload already`,
    `Wait for it to end, or cancel it first: jobq-dev jobs cancel ${id}`,
  );
}
