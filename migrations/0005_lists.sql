-- Lists, counts and the reaper cost the same with a million finished rows as with none.
--
-- On a large table that is in use, make these beforehand with `create index concurrently`, under the
-- same names; this file then finds them.

-- The newest jobs of a state, and how many there are of it. It also does what the partial indexes on
-- running and dead jobs did, which are dropped below: so a claim and a settle write as many index
-- entries as before.
create index if not exists jobs_status_idx on jobs (status, id);

-- The newest jobs of a kind, in one state or in all four: one short walk for each state. Only the
-- start of the kind: an index refuses entries above 2,700 bytes, and an insert may not fail for it.
create index if not exists jobs_kind_idx on jobs (left(kind, 100), status, id);

-- Pending jobs that can never be claimed. The reaper asks for them at each tick, and there are
-- hardly ever any: without this index it would look at every pending job to find none.
create index if not exists jobs_exhausted_idx on jobs (id)
  where status = 'pending' and attempts >= max_attempts;

-- The running jobs are few, as many as there are slots: the reaper reads them all. An index on
-- locked_at made each heartbeat write to every index of the table (no HOT update).
drop index jobs_running_idx;
drop index jobs_dead_idx;
