import type { Queryable } from '../db/port.js';

export interface Keep {
  /** Done jobs that finished longer ago than this are deleted. Milliseconds. */
  ageMs: number;
  /** Of the newest done jobs so many are kept, at most. */
  count: number;
}

/** Rows deleted by one statement, so that none holds the table for long. */
const CHUNK = 1_000;

// By the time a job finished, not by when it was due: one that waited for a week and is done now is
// as new as any (oban 1145). Attempts go with their job.
const SQL = `
with old as materialized (
  select id from jobs
  where status = 'done' and finished_at < $1::timestamptz
     or status = 'done' and (finished_at, id) <= (
       select finished_at, id from jobs where status = 'done'
       order by finished_at desc, id desc offset $2::int limit 1)
  order by finished_at, id
  limit $3::int
  for update skip locked
)
delete from jobs using old where jobs.id = old.id returning jobs.id`;

/**
 * Deletes done jobs that are old or beyond the number to keep. Dead jobs stay: a person is to look
 * at them.
 * @returns the ids that are gone, so that what else is kept of them can go too.
 */
export async function prune(
  db: Queryable,
  { now, keep }: { now: Date; keep: Keep },
): Promise<string[]> {
  const before = new Date(now.getTime() - keep.ageMs);
  const gone: string[] = [];
  for (;;) {
    const { rows } = await db.query<{ id: string }>(SQL, [before, keep.count, CHUNK]);
    gone.push(...rows.map(({ id }) => id));
    if (rows.length < CHUNK) return gone;
  }
}
