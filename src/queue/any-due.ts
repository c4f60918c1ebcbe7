import type { Queryable } from '../db/port.js';

/** Whether a job is due and not claimed. */
export async function anyDue(db: Queryable, { now }: { now: Date }): Promise<boolean> {
  const { rows } = await db.query(
    `select from jobs
     where status = 'pending' and run_after <= $1::timestamptz and attempts < max_attempts
     limit 1`,
    [now],
  );
  return rows.length > 0;
}
