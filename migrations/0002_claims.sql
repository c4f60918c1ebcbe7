-- Who owns a running job, when a job ended, what it was made from, and the rules of its states.
--
-- Only adds: an app's `insert into jobs (kind, payload) values (…)` works unchanged.

-- claim_id:    stamped by each claim. settle, release and heartbeat name it, so that a drainer that
--              comes late changes nothing of a job that has been claimed again.
-- finished_at: when the job became done or dead. Kept apart from run_after: a job that was due
--              eight days ago and ends now is not eight days old.
-- parent_id:   the job that this one was edited from, to be run again.
alter table jobs
  add column claim_id    uuid,
  add column finished_at timestamptz,
  add column parent_id   bigint references jobs (id) on delete set null;

-- The reaper's look: running jobs, oldest lock first.
create index jobs_running_idx on jobs (locked_at) where status = 'running';

-- Dead jobs are few among many and are what a person asks for.
create index jobs_dead_idx on jobs (finished_at, id) where status = 'dead';

-- `on delete set null` looks for children once per deleted row; without an index that is one scan
-- of the table for each. Partial: almost no job has a parent.
create index jobs_parent_idx on jobs (parent_id) where parent_id is not null;

-- Rows that an older drainer left and that would break a rule below. Nobody's work is lost: a job
-- that ran more often than it was allowed to keeps its count, and a running job that nobody stamped
-- becomes the reaper's after one lease.
update jobs set attempts = 0 where attempts < 0;
update jobs set max_attempts = attempts where max_attempts < attempts;
update jobs set locked_at = now() where status = 'running' and locked_at is null;

alter table jobs
  add constraint jobs_status_known
    check (status in ('pending', 'running', 'done', 'dead')),
  add constraint jobs_attempts_not_negative
    check (attempts >= 0),
  add constraint jobs_attempts_within_max
    check (attempts <= max_attempts),
  add constraint jobs_running_is_locked
    check (status <> 'running' or locked_at is not null);
