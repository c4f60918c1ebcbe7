-- The queue's table, as production has it.
--
-- `if not exists`: a production database usually has this table already. It is then left as it
-- is, and the later migrations only add to it.
create table if not exists jobs (
  id           bigserial   primary key,
  kind         text        not null,
  payload      jsonb       not null,
  status       text        not null default 'pending',
  attempts     int         not null default 0,
  max_attempts int         not null default 3,
  run_after    timestamptz not null default now(),
  locked_at    timestamptz,
  last_error   text,
  created_at   timestamptz not null default now()
);

-- The claim's index. A burst inserted by one statement shares one run_after, so an index on
-- run_after alone makes every claim sort the whole burst (measured on PGlite: about 10 ms a claim
-- against 1 ms); with the id as second column the index is the claim's order. Partial, so that a
-- claim costs the same with a million finished rows as with none.
create index if not exists jobs_pending_idx on jobs (run_after, id) where status = 'pending';
