import type { Queryable } from '../db/port.js';
import { formatDuration } from '../job/duration.js';
import type { Job } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';

export interface Reaped {
  job: Job;
  /** The lease ran out, or the job was pending with no attempt left to claim it with. */
  why: 'lease' | 'exhausted';
}

// One statement decides and changes (river 1302: a reaper that reads ids first and updates them
// later overwrites a job that finished in between). A lost run counts as an attempt: a poison job
// that kills its drainer ends up dead, never in a loop. It is due at once: it has waited a lease.
const SQL = `
with overdue as materialized (
  select id, claim_id from jobs
  where status = 'running' and locked_at <= $1::timestamptz - $2::bigint * interval '1 millisecond'
  for update skip locked
), reaped as (
  update jobs set
    status = case when attempts >= max_attempts then 'dead' else 'pending' end,
    run_after = case when attempts >= max_attempts then run_after else $1 end,
    finished_at = case when attempts >= max_attempts then $1 end,
    last_error = $3::text,
    locked_at = null,
    claim_id = null
  from overdue
  where jobs.id = overdue.id
  returning ${JOB_COLUMNS}
), lost as (
  update job_attempts set outcome = 'lost', finished_at = $1, error = $3
  from overdue
  where job_attempts.claim_id = overdue.claim_id and outcome is null
), stuck as materialized (
  select id from jobs where status = 'pending' and attempts >= max_attempts for update skip locked
), exhausted as (
  update jobs set
    status = 'dead',
    finished_at = $1,
    last_error = 'no attempts left: attempts (' || attempts || ') had reached max_attempts ('
      || max_attempts || ') while the job was pending'
      || coalesce('; before that: ' || last_error, '')
  from stuck
  where jobs.id = stuck.id
  returning ${JOB_COLUMNS}
)
select 'lease' as why, * from reaped
union all
select 'exhausted' as why, * from exhausted
order by id`;

/**
 * Returns what a crashed drainer left: running → pending or dead where the last sign of life is a
 * lease old. A pending row that can never be claimed is made dead with a reason, not left.
 */
export async function reap(
  db: Queryable,
  {
    now,
    leaseMs,
    reason = `no sign of life from its drainer for ${formatDuration(leaseMs)} (the lease)`,
  }: { now: Date; leaseMs: number; reason?: string },
): Promise<Reaped[]> {
  const { rows } = await db.query<Job & { why: Reaped['why'] } & Record<string, unknown>>(SQL, [
    now,
    leaseMs,
    `lost: ${reason}`,
  ]);
  return rows.map(({ why, ...job }) => ({ why, job }));
}
