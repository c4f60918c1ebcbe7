import { DatabaseError, type Queryable } from '../db/port.js';
import { JobqError } from '../errors.js';

export interface NewJob {
  kind: string;
  /** JSON text; it reaches the table digit for digit. */
  payload: string;
  /** Default: `now`. */
  runAfter?: Date | undefined;
  /** Default: 3, as the table has it. */
  maxAttempts?: number | undefined;
  /** The job that this one is an edited copy of. */
  parentId?: string | undefined;
}

const SQL = `
insert into jobs (kind, payload, run_after, max_attempts, created_at, parent_id)
select kind, payload::jsonb, coalesce(run_after, $6::timestamptz), coalesce(max_attempts, 3), $6,
       parent_id
from unnest($1::text[], $2::text[], $3::timestamptz[], $4::int[], $5::bigint[])
  with ordinality as new(kind, payload, run_after, max_attempts, parent_id, place)
order by place
returning id`;

/**
 * Inserts jobs in the order given, all or none.
 * @returns their ids, in the same order.
 * @throws JobqError `input` when Postgres cannot hold a kind or payload.
 */
export async function enqueue(
  db: Queryable,
  { jobs, now }: { jobs: readonly NewJob[]; now: Date },
): Promise<string[]> {
  if (jobs.length === 0) return [];
  try {
    const { rows } = await db.query<{ id: string }>(SQL, [
      jobs.map((job) => job.kind),
      jobs.map((job) => job.payload),
      jobs.map((job) => job.runAfter?.toISOString() ?? null),
      jobs.map((job) => job.maxAttempts ?? null),
      jobs.map((job) => job.parentId ?? null),
      now,
    ]);
    return rows.map((row) => row.id);
  } catch (error) {
    throw refusedInput(error);
  }
}

/** What Postgres says of a value that it cannot hold, as an error for people. */
export function refusedInput(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { constraint = '', more } = error.detail;
  const because = REFUSALS[error.sqlstate] ?? CONSTRAINTS[constraint];
  if (because === undefined) return error;
  // Of a constraint it would quote the whole row.
  const why = more !== undefined && constraint === '' ? `${error.message}: ${more}` : error.message;
  return new JobqError('input', `the database cannot hold this job: ${because}`, why, {
    cause: error,
  });
}

const REFUSALS: Record<string, string> = {
  '22P02': 'its payload is not valid JSON for Postgres',
  '22P05': 'it holds \\u0000, which Postgres cannot store in jsonb',
  '22021': 'it holds a NUL or bytes that are no valid text',
  '54000': 'it is larger than Postgres allows',
  '54001': 'its payload is nested too deeply',
  '22003': 'a number is out of range',
  '22008': 'its time is out of range',
};

const CONSTRAINTS: Record<string, string> = {
  jobs_attempts_within_max: 'max_attempts may not be below the attempts already used',
};
