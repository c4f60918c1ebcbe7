import type { Queryable } from '../db/port.js';
import type { Job } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';
import { findJob } from './find.js';

/** Relatives that are shown, at most. */
const MOST = 1_000;

// `union` drops what is there already, so that a parent_id that leads back to itself ends.
const SQL = `
with recursive ancestors as (
  select id, parent_id from jobs where id = $1::bigint
  union
  select jobs.id, jobs.parent_id from jobs join ancestors on jobs.id = ancestors.parent_id
), family as (
  select id from ancestors
  union
  select jobs.id from jobs join family on jobs.parent_id = family.id
)
select ${JOB_COLUMNS.replace('jobs.payload::text', "'null'")}
from jobs where id in (select id from family)
order by id
limit $2::int`;

/**
 * The jobs that a job was edited from, and every edited copy of any of them; oldest first, itself
 * among them, without payloads.
 * @throws JobqError `not-found`
 */
export async function lineage(db: Queryable, id: string): Promise<Job[]> {
  await findJob(db, id);
  const { rows } = await db.query<Job & Record<string, unknown>>(SQL, [id, MOST]);
  return rows;
}
