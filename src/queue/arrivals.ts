import { type Database, DatabaseError } from '../db/port.js';
import { JobqError } from '../errors.js';
import type { Status } from '../job/job.js';

/** A job as it came in, and what became of it. */
export interface Arrival {
  id: string;
  kind: string;
  payload: string;
  status: Status;
  attempts: number;
  max_attempts: number;
  run_after: Date;
  created_at: Date;
}

export interface ArrivalFilter {
  /** The last id of the page before. */
  after?: string | undefined;
  /** By the time of the insert. */
  since?: Date | undefined;
  until?: Date | undefined;
  kinds?: readonly string[] | undefined;
  limit: number;
}

// Only columns of the first migration: the table may be that of a production which never met a later
// one. By id: ids are given in the order of the inserts, and a page costs what it holds.
const SQL = `
select id, kind, payload::text as payload, status, attempts, max_attempts, run_after, created_at
from jobs
where id > $1::bigint and ($2::timestamptz is null or created_at >= $2)
  and ($3::timestamptz is null or created_at < $3) and ($4::text[] is null or kind = any($4))
order by id
limit $5::int`;

/**
 * A page of jobs in the order in which they were inserted, read in a transaction that cannot write.
 * @throws JobqError `database-refused` when there is no such table.
 */
export async function arrivals(
  db: Database,
  { after = '0', since, until, kinds, limit }: ArrivalFilter,
): Promise<Arrival[]> {
  try {
    return await db.transaction(async (tx) => {
      await tx.exec('set transaction read only');
      const { rows } = await tx.query<Arrival & Record<string, unknown>>(SQL, [
        after,
        since ?? null,
        until ?? null,
        kinds ?? null,
        limit,
      ]);
      return rows;
    });
  } catch (error) {
    if (!(error instanceof DatabaseError) || !NOT_OURS.has(error.sqlstate)) throw error;
    throw new JobqError(
      'database-refused',
      `${db.location} has no table of jobs that can be read: ${error.message}`,
      'It must have the columns of `jobq-dev migrate --print`; a search_path in the URL chooses the schema.',
      { cause: error },
    );
  }
}

/** undefined_table, undefined_column, insufficient_privilege */
const NOT_OURS = new Set(['42P01', '42703', '42501']);
