-- One row per attempt: one run of one job's handler in one sandbox.
--
-- The row is written with the claim and completed when the attempt ends, so an attempt whose
-- drainer died is visible as one without an outcome until the reaper calls it lost.
create table job_attempts (
  id                bigserial   primary key,
  job_id            bigint      not null references jobs (id) on delete cascade,
  -- jobs.attempts during this attempt. Not unique per job: a release gives the number back, and a
  -- retry by hand starts again at 1.
  attempt           int         not null,
  -- jobs.claim_id during this attempt; unique, so that no attempt is ever recorded twice.
  claim_id          uuid        not null,
  provider          text,
  isolation         text,
  started_at        timestamptz not null,
  finished_at       timestamptz,
  -- null while it runs
  outcome           text,
  -- null unless it exited
  exit_code         int,
  -- null unless it was signaled
  signal            text,
  duration_ms       bigint,
  peak_memory_bytes bigint,
  -- The tails of the output, cleaned of what text cannot hold, and how much there was in all.
  stdout            text,
  stderr            text,
  stdout_bytes      bigint,
  stderr_bytes      bigint,
  error             text,
  constraint job_attempts_claim_once unique (claim_id),
  constraint job_attempts_outcome_known
    check (outcome in ('exited', 'signaled', 'timeout', 'lost', 'superseded', 'released'))
);

-- A job's history in order, and the cascade when jobs are deleted.
create index job_attempts_job_idx on job_attempts (job_id, id);
