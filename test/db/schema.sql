table job_attempts
  id bigint not null default nextval('job_attempts_id_seq'::regclass)
  job_id bigint not null
  attempt integer not null
  claim_id uuid not null
  provider text
  isolation text
  started_at timestamp with time zone not null
  finished_at timestamp with time zone
  outcome text
  exit_code integer
  signal text
  duration_ms bigint
  peak_memory_bytes bigint
  stdout text
  stderr text
  stdout_bytes bigint
  stderr_bytes bigint
  error text
  constraint job_attempts_claim_once UNIQUE (claim_id)
  constraint job_attempts_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE
  constraint job_attempts_outcome_known CHECK ((outcome = ANY (ARRAY['exited'::text, 'signaled'::text, 'timeout'::text, 'lost'::text, 'superseded'::text, 'released'::text])))
  constraint job_attempts_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX job_attempts_claim_once ON public.job_attempts USING btree (claim_id)
  CREATE INDEX job_attempts_job_idx ON public.job_attempts USING btree (job_id, id)
  CREATE UNIQUE INDEX job_attempts_pkey ON public.job_attempts USING btree (id)
table jobq_migrations
  version integer not null
  name text not null
  applied_at timestamp with time zone not null default now()
  constraint jobq_migrations_pkey PRIMARY KEY (version)
  CREATE UNIQUE INDEX jobq_migrations_pkey ON public.jobq_migrations USING btree (version)
table jobs
  id bigint not null default nextval('jobs_id_seq'::regclass)
  kind text not null
  payload jsonb not null
  status text not null default 'pending'::text
  attempts integer not null default 0
  max_attempts integer not null default 3
  run_after timestamp with time zone not null default now()
  locked_at timestamp with time zone
  last_error text
  created_at timestamp with time zone not null default now()
  claim_id uuid
  finished_at timestamp with time zone
  parent_id bigint
  constraint jobs_attempts_not_negative CHECK ((attempts >= 0))
  constraint jobs_attempts_within_max CHECK ((attempts <= max_attempts))
  constraint jobs_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES jobs(id) ON DELETE SET NULL
  constraint jobs_pkey PRIMARY KEY (id)
  constraint jobs_running_is_locked CHECK (((status <> 'running'::text) OR (locked_at IS NOT NULL)))
  constraint jobs_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'done'::text, 'dead'::text])))
  CREATE INDEX jobs_done_idx ON public.jobs USING btree (finished_at, id) WHERE (status = 'done'::text)
  CREATE INDEX jobs_exhausted_idx ON public.jobs USING btree (id) WHERE ((status = 'pending'::text) AND (attempts >= max_attempts))
  CREATE INDEX jobs_kind_idx ON public.jobs USING btree ("left"(kind, 100), status, id)
  CREATE INDEX jobs_parent_idx ON public.jobs USING btree (parent_id) WHERE (parent_id IS NOT NULL)
  CREATE INDEX jobs_pending_idx ON public.jobs USING btree (run_after, id) WHERE (status = 'pending'::text)
  CREATE UNIQUE INDEX jobs_pkey ON public.jobs USING btree (id)
  CREATE INDEX jobs_status_idx ON public.jobs USING btree (status, id)
