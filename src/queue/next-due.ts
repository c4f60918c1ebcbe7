import type { Queryable } from '../db/port.js';

/** When the first pending job is, or has been, due; undefined when none is pending. */
export async function nextDue(db: Queryable): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | null }>(
    "select min(run_after) as at from jobs where status = 'pending'",
  );
  return rows[0]?.at ?? undefined;
}
