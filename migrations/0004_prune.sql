-- Pruning looks for done jobs by the time they finished: partial, so that it holds nothing else.
create index jobs_done_idx on jobs (finished_at, id) where status = 'done';
