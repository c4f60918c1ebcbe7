/** The four states a job can be in; see docs/architecture.md for the transitions. */
export const STATUSES = ['pending', 'running', 'done', 'dead'] as const;
export type Status = (typeof STATUSES)[number];

/** A row of `jobs`, under the table's own column names. */
export interface Job {
  /** bigint as a decimal string. */
  id: string;
  kind: string;
  /** jsonb as the text Postgres prints; digits are kept. */
  payload: string;
  status: Status;
  attempts: number;
  max_attempts: number;
  run_after: Date;
  locked_at: Date | null;
  last_error: string | null;
  created_at: Date;
  claim_id: string | null;
  finished_at: Date | null;
  /** The job that this one is an edited copy of. */
  parent_id: string | null;
}

/** How an attempt ended, as `job_attempts.outcome` keeps it. */
export type AttemptOutcome =
  | 'exited'
  | 'signaled'
  | 'timeout'
  | 'lost'
  /** It finished after its claim had passed to another, or was cancelled: it changed nothing. */
  | 'superseded'
  /** Shutdown gave the attempt back. */
  | 'released';

/** A row of `job_attempts`. */
export interface Attempt {
  id: string;
  job_id: string;
  /** 1 for the first; starts again at 1 after a retry by hand. */
  attempt: number;
  claim_id: string;
  provider: string | null;
  isolation: string | null;
  started_at: Date;
  finished_at: Date | null;
  /** null while it runs. */
  outcome: AttemptOutcome | null;
  exit_code: number | null;
  signal: string | null;
  duration_ms: number | null;
  peak_memory_bytes: number | null;
  stdout: string | null;
  stderr: string | null;
  stdout_bytes: number | null;
  stderr_bytes: number | null;
  error: string | null;
}
