import type { Queryable } from '../db/port.js';

/** When the first job that failed before is due again, later than `now`; undefined: none is. */
export async function nextRetry(db: Queryable, { now }: { now: Date }): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | null }>(
    `select min(run_after) as at from jobs
     where status = 'pending' and attempts > 0 and run_after > $1::timestamptz`,
    [now],
  );
  return rows[0]?.at ?? undefined;
}
