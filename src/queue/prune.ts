import type { Queryable } from '../db/port.js';

/** Which done jobs are kept: what breaks either rule is deleted. A rule left out keeps everything. */
export interface Keep {
  /** Those that finished longer ago than this are deleted. Milliseconds. */
  ageMs?: number | undefined;
  /** Of the newest so many are kept, at most. */
  count?: number | undefined;
}

/** Rows deleted by one statement, so that none holds the table for long. */
const CHUNK = 1_000;

// By the time a job finished, not by when it was due: one that waited for a week and is done now is
// as new as any (oban 1145). One whose time is not known, since another drainer ran it, is kept.
//
// In the order of that time either rule deletes a beginning of the line. So the longer of the two
// ends at one job, and up to it one range of the index is read: nothing, when there is no such job.
// (With the two rules joined by OR, all done jobs were read to find none: 450 ms for a million.)
const LAST = `
last as materialized (
  select finished_at, id from (
    (select finished_at, id from jobs where status = 'done' and finished_at < $1::timestamptz
     order by finished_at desc, id desc limit 1)
    union all
    (select finished_at, id from jobs where status = 'done' and finished_at is not null
       and $2::int is not null
     order by finished_at desc, id desc offset $2 limit 1)
  ) as ends
  order by finished_at desc, id desc
  limit 1
)`;

const UP_TO_LAST = `
status = 'done' and (finished_at, id) <= ((select finished_at from last), (select id from last))`;

// Attempts go with their job.
const DELETE = `
with ${LAST}, old as materialized (
  select id from jobs where ${UP_TO_LAST}
  order by finished_at, id
  limit $3::int
  for update skip locked
)
delete from jobs using old where jobs.id = old.id returning jobs.id`;

const COUNT = `with ${LAST} select count(*)::float8 as jobs from jobs where ${UP_TO_LAST}`;

/**
 * Deletes done jobs that are old or beyond the number to keep. Dead jobs stay: a person is to look
 * at them.
 * @returns the ids that are gone, so that what else is kept of them can go too.
 */
export async function prune(
  db: Queryable,
  { now, keep }: { now: Date; keep: Keep },
): Promise<string[]> {
  const gone: string[] = [];
  for (;;) {
    const { rows } = await db.query<{ id: string }>(DELETE, [...rules(now, keep), CHUNK]);
    gone.push(...rows.map(({ id }) => id));
    if (rows.length < CHUNK) return gone;
  }
}

/** @returns how many jobs `prune` would delete. */
export async function countPrunable(
  db: Queryable,
  { now, keep }: { now: Date; keep: Keep },
): Promise<number> {
  const { rows } = await db.query<{ jobs: number }>(COUNT, rules(now, keep));
  return rows[0]!.jobs;
}

function rules(now: Date, { ageMs, count }: Keep): [Date | null, number | null] {
  return [ageMs === undefined ? null : new Date(now.getTime() - ageMs), count ?? null];
}
