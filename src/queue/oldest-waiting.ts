import type { Queryable } from '../db/port.js';

/** Age of the oldest job that is due and not yet claimed, in milliseconds; null: none is. */
export async function oldestWaitingMs(
  db: Queryable,
  { now }: { now: Date },
): Promise<number | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    `select min(run_after) as at from jobs
     where status = 'pending' and run_after <= $1::timestamptz`,
    [now],
  );
  const at = rows[0]?.at ?? null;
  return at === null ? null : now.getTime() - at.getTime();
}
