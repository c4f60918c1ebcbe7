import type { Queryable } from '../db/port.js';
import type { Status } from '../job/job.js';

/** How many jobs of a kind are in a state. */
export interface Depth {
  status: Exclude<Status, 'done'>;
  /** Its first 100 characters. */
  kind: string;
  jobs: number;
}

// What is done is no depth: those are most of the table, and only grow. The kind as the index on
// kinds has it.
const SQL = `
select status, kind, count(*)::float8 as jobs
from (
  select status, left(kind, 100) as kind from jobs
  where status in ('pending', 'running', 'dead')
  limit $1::int
) as waiting
group by status, kind
order by jobs desc, kind, status`;

/**
 * Jobs that are pending, running or dead, by kind, the most first.
 * @param limit of the jobs that are counted: counting costs as much as there is to count.
 */
export async function depthByKind(db: Queryable, { limit }: { limit: number }): Promise<Depth[]> {
  const { rows } = await db.query<Depth & Record<string, unknown>>(SQL, [limit]);
  return rows;
}
