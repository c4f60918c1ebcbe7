/**
 * The rules of docs/architecture.md ("The states") as statements about the tables alone: they know
 * neither what was called nor in which order, so they hold as well when everything runs at once.
 */
import type { Queryable } from '#src/db/port.js';

/** Each query lists what breaks its rule, as `what`. */
const OF_THE_TABLES: Record<string, string> = {
  'a running job, and no other, has an owner and a lock': `
    select to_jsonb(jobs)::text as what from jobs
    where (status = 'running') <> (claim_id is not null)
       or (status = 'running') <> (locked_at is not null)`,

  'a job that is over, and no other, has the time it ended': `
    select to_jsonb(jobs)::text from jobs
    where (status in ('done', 'dead')) <> (finished_at is not null)`,

  'attempts lie between 0 and max_attempts': `
    select to_jsonb(jobs)::text from jobs where attempts not between 0 and max_attempts`,

  'an attempt is open exactly while its claim holds the job': `
    select coalesce(to_jsonb(jobs), to_jsonb(job_attempts))::text
    from (select * from jobs where status = 'running') as jobs
    full join (select * from job_attempts where outcome is null) as job_attempts
      on job_attempts.claim_id = jobs.claim_id and job_attempts.job_id = jobs.id
        and job_attempts.attempt = jobs.attempts
    where jobs.id is null or job_attempts.id is null`,

  'an attempt that ended has the time it ended': `
    select to_jsonb(job_attempts)::text from job_attempts
    where (outcome is null) <> (finished_at is null)`,

  'a done job was done by one attempt, and no other job has such an attempt': `
    select format('job %s is %s with %s', id, status, successes) from (
      select jobs.id, status, count(job_attempts.id) as successes
      from jobs left join job_attempts
        on job_id = jobs.id and outcome = 'exited' and exit_code = 0
      group by jobs.id) as ended
    where successes <> case status when 'done' then 1 else 0 end`,

  'a job that has used attempts has its last one on record': `
    select to_jsonb(jobs)::text from jobs
    where attempts > 0 and attempts is distinct from (
      select attempt from job_attempts
      where job_id = jobs.id and outcome is distinct from 'released'
      order by id desc limit 1)`,

  'a dead job has no attempt left or was cancelled, and says why it died': `
    select to_jsonb(jobs)::text from jobs
    where status = 'dead'
      and (attempts < max_attempts and last_error <> 'cancelled by hand' or last_error is null)`,
};

/** What a referee has seen of steps that no state shows afterwards. */
const OF_THE_STEPS = `select rule as invariant, what from referee`;

const SQL = [
  ...Object.entries(OF_THE_TABLES).map(
    ([rule, sql]) => `select '${rule}' as invariant, broken.* from (${sql}) as broken`,
  ),
  OF_THE_STEPS,
].join('\nunion all\n');

const STEPS_OF_A_JOB = 'every step of a job is an arrow of its states';
const STEPS_OF_AN_ATTEMPT = 'what a drainer has put on record of its attempt stays';
const ONLY_DONE_GO = 'only done jobs are ever deleted';

/**
 * Triggers that watch each step and note the ones that are no arrow. They raise nothing: a referee
 * that stops the game would hide what the game comes to.
 */
const REFEREE = `
create table referee (rule text not null, what text not null);

create function watch_job() returns trigger language plpgsql as $$
declare
  same_rest boolean;
  fine boolean;
begin
  if TG_OP = 'DELETE' then
    if old.status <> 'done' then
      insert into referee values ('${ONLY_DONE_GO}', to_jsonb(old)::text);
    end if;
    return null;
  end if;
  same_rest := (new.id, new.kind, new.created_at) = (old.id, old.kind, old.created_at)
    and (old.status = 'pending' and new.status = 'pending'
      or (new.payload, new.max_attempts) = (old.payload, old.max_attempts))
    -- prune takes a parent away
    and (new.parent_id is null or new.parent_id = old.parent_id);
  fine := case old.status || ' → ' || new.status
    when 'pending → running' then
      old.attempts < old.max_attempts and new.attempts = old.attempts + 1
      and old.run_after <= new.locked_at and new.run_after = old.run_after
    when 'pending → pending' then new.attempts = old.attempts
    when 'pending → dead' then new.attempts = old.attempts
    when 'running → running' then
      new.claim_id = old.claim_id and new.attempts = old.attempts
      and new.locked_at >= old.locked_at and new.run_after = old.run_after
    when 'running → pending' then
      new.attempts = old.attempts
      or new.attempts = old.attempts - 1 and new.run_after = old.run_after
    when 'running → done' then new.attempts = old.attempts
    when 'running → dead' then new.attempts = old.attempts
    when 'dead → pending' then new.attempts = 0
    -- what is over stays as it is, but for its parent
    when 'done → done' then
      (new.finished_at, new.attempts, new.last_error)
        is not distinct from (old.finished_at, old.attempts, old.last_error)
    when 'dead → dead' then
      (new.finished_at, new.attempts, new.last_error)
        is not distinct from (old.finished_at, old.attempts, old.last_error)
    else false
  end;
  if same_rest is not true or fine is not true then
    insert into referee
    values ('${STEPS_OF_A_JOB}', to_jsonb(old)::text || ' → ' || to_jsonb(new)::text);
  end if;
  return null;
end $$;
create trigger watch_job after update or delete on jobs
  for each row execute function watch_job();

create function watch_attempt() returns trigger language plpgsql as $$
begin
  -- Open attempts get their outcome; what the reaper or a cancel took for lost gives way to what
  -- its drainer has to say.
  if old.outcome is not null and not (
    old.outcome = 'lost' and old.duration_ms is null
    and new.outcome = 'superseded' and new.error = old.error)
  then
    insert into referee values (
      '${STEPS_OF_AN_ATTEMPT}', to_jsonb(old)::text || ' → ' || to_jsonb(new)::text);
  end if;
  return null;
end $$;
create trigger watch_attempt after update on job_attempts
  for each row when (old is distinct from new) execute function watch_attempt();

create function broken_rules() returns table (invariant text, what text)
language plpgsql
-- Planned once a session: it is asked after each step.
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin return query ${SQL}; end $$;`;

/** Puts the referee on a migrated database. */
export async function installReferee(db: Queryable): Promise<void> {
  await db.exec(REFEREE);
}

/**
 * Empties the tables. Row by row, for what a few rows leave behind: `truncate` makes new files for
 * eight indexes (measured on PGlite: 20 ms, as long as a whole sequence of calls).
 */
export async function clear(db: Queryable): Promise<void> {
  await db.exec('delete from jobs; delete from referee');
}

/** The names of all of them. */
export const INVARIANTS = [
  ...Object.keys(OF_THE_TABLES),
  STEPS_OF_A_JOB,
  STEPS_OF_AN_ATTEMPT,
  ONLY_DONE_GO,
];

export interface BrokenRule {
  invariant: string;
  /** The rows that break it. */
  what: string;
}
