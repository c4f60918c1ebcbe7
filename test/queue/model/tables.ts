/** The two tables of the model, in memory. */
import type { Job, Status } from '#src/job/job.js';
import type { NewJob } from '#src/queue/enqueue.js';

type InMilliseconds<Column> = Column extends Date ? number : Column;

/** A row of `jobs`; times in milliseconds. */
export type JobRow = { [Column in keyof Job]: InMilliseconds<Job[Column]> };

/** A row of `job_attempts`, without its id; times in milliseconds. */
export interface AttemptRow {
  job_id: string;
  attempt: number;
  claim_id: string;
  provider: string;
  isolation: string;
  started_at: number;
  finished_at: number | null;
  outcome: string | null;
  exit_code: number | null;
  signal: string | null;
  duration_ms: number | null;
  stdout: string | null;
  stderr: string | null;
  stdout_bytes: number | null;
  error: string | null;
}

export class Tables {
  readonly jobs = new Map<string, JobRow>();
  attempts: AttemptRow[] = [];

  all(where: (job: JobRow) => boolean): JobRow[] {
    return [...this.jobs.values()].filter(where);
  }

  /** The job that a claim still owns. */
  heldBy(claimId: string): JobRow | undefined {
    return this.all(({ claim_id }) => claim_id === claimId)[0];
  }

  attempt(claimId: string): AttemptRow | undefined {
    return this.attempts.find(({ claim_id }) => claim_id === claimId);
  }

  /** The attempts of each job in order, job by job. */
  history(): AttemptRow[] {
    return this.attempts.toSorted((a, b) => Number(a.job_id) - Number(b.job_id));
  }

  insert(job: NewJob, now: number, id: string): JobRow {
    const row: JobRow = {
      id,
      kind: job.kind,
      payload: job.payload,
      status: 'pending',
      attempts: 0,
      max_attempts: job.maxAttempts ?? 3,
      run_after: job.runAfter?.getTime() ?? now,
      locked_at: null,
      last_error: null,
      created_at: now,
      claim_id: null,
      finished_at: null,
      parent_id: job.parentId ?? null,
    };
    this.jobs.set(id, row);
    return row;
  }

  delete(ids: readonly string[]): void {
    for (const id of ids) this.jobs.delete(id);
    this.attempts = this.attempts.filter(({ job_id }) => this.jobs.has(job_id));
    for (const job of this.jobs.values()) {
      if (job.parent_id !== null && !this.jobs.has(job.parent_id)) job.parent_id = null;
    }
  }
}

/** Whoever had the job has it no longer. */
export function rest(job: JobRow, status: Exclude<Status, 'running'>, now: number): void {
  job.status = status;
  job.finished_at = status === 'pending' ? null : now;
  job.locked_at = null;
  job.claim_id = null;
}

export function byId(a: { id: string }, b: { id: string }): number {
  return Number(a.id) - Number(b.id);
}
