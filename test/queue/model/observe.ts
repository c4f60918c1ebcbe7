/** Both tables and what breaks a rule, in one look. */
import type { Queryable } from '#src/db/port.js';
import type { BrokenRule } from './invariants.js';
import type { AttemptRow, JobRow } from './tables.js';

export interface Observation {
  jobs: JobRow[];
  /** Job by job, in order. */
  attempts: AttemptRow[];
  broken: BrokenRule[];
}

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const OBSERVE = `
select
  (select json_agg(json_build_object(
     'id', id::text, 'kind', kind, 'payload', payload::text, 'status', status,
     'attempts', attempts, 'max_attempts', max_attempts, 'run_after', ${ms('run_after')},
     'locked_at', ${ms('locked_at')}, 'last_error', last_error, 'created_at', ${ms('created_at')},
     'claim_id', claim_id, 'finished_at', ${ms('finished_at')}, 'parent_id', parent_id::text)
     order by id) from jobs) as jobs,
  (select json_agg(json_build_object(
     'job_id', job_id::text, 'attempt', attempt, 'claim_id', claim_id, 'provider', provider,
     'isolation', isolation, 'started_at', ${ms('started_at')}, 'finished_at', ${ms('finished_at')},
     'outcome', outcome, 'exit_code', exit_code, 'signal', signal, 'duration_ms', duration_ms,
     'stdout', stdout, 'stderr', stderr, 'stdout_bytes', stdout_bytes, 'error', error)
     order by job_id, id) from job_attempts) as attempts,
  (select json_agg(broken) from broken_rules() as broken) as broken`;

export async function observe(db: Queryable): Promise<Observation> {
  const { rows } = await db.query<Record<keyof Observation, string | null>>(OBSERVE);
  const { jobs, attempts, broken } = rows[0]!;
  const parsed = (text: string | null) => JSON.parse(text ?? '[]');
  return { jobs: parsed(jobs), attempts: parsed(attempts), broken: parsed(broken) };
}
