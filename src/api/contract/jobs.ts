/** Jobs as answers show them. */
import { z } from 'zod';
import { STATUSES } from '../../job/job.js';
import { count, id, milliseconds, time } from './scalars.js';

const status = z.enum(STATUSES);

/** A job in a line: no payload, and of its error only the headline. */
export const JobLine = z
  .object({
    id,
    kind: z.string(),
    status,
    attempts: count,
    max_attempts: count,
    run_after: time,
    last_error: z.string().nullable(),
  })
  .meta({ id: 'JobLine' });
export type JobLine = z.infer<typeof JobLine>;

/** A row of the table, under the table's own column names. */
export const JobAnswer = z
  .object({
    ...JobLine.shape,
    /** Any JSON, every digit kept; left out where the request says `payload=false`. */
    payload: z.unknown().optional(),
    created_at: time,
    locked_at: time.nullable(),
    finished_at: time.nullable(),
    claim_id: z.string().nullable(),
    /** The job that this one is an edited copy of. */
    parent_id: id.nullable(),
  })
  .meta({ id: 'Job' });
export type JobAnswer = z.infer<typeof JobAnswer>;

/** One run of one job's handler. */
export const AttemptAnswer = z
  .object({
    id,
    job_id: id,
    attempt: count,
    claim_id: z.string(),
    provider: z.string().nullable(),
    isolation: z.string().nullable(),
    started_at: time,
    finished_at: time.nullable(),
    /** null while it runs */
    outcome: z.enum(['exited', 'signaled', 'timeout', 'lost', 'superseded', 'released']).nullable(),
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    duration_ms: milliseconds.nullable(),
    peak_memory_bytes: count.nullable(),
    /** The stream's tail; of an attempt that runs here, what it has written so far. */
    stdout: z.string().nullable(),
    stderr: z.string().nullable(),
    /** How much there was in all. */
    stdout_bytes: count.nullable(),
    stderr_bytes: count.nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'Attempt' });
export type AttemptAnswer = z.infer<typeof AttemptAnswer>;

/** `GET /jobs/:id` */
export const JobWithAttempts = z
  .object({
    ...JobAnswer.shape,
    /** Oldest first. */
    attempts_log: z.array(AttemptAnswer),
  })
  .meta({ id: 'JobWithAttempts' });

/** `GET /jobs/:id/lineage`: a job of a family of edited copies. */
export const Relative = z
  .object({ ...JobLine.shape, parent_id: id.nullable() })
  .meta({ id: 'Relative' });
export type Relative = z.infer<typeof Relative>;

/** `GET /jobs/:id/explain` */
export const Explanation = z
  .object({ id, status, reasons: z.array(z.string()) })
  .meta({ id: 'Explanation' });
export type Explanation = z.infer<typeof Explanation>;

/** `POST /jobs` */
export const Enqueued = z.object({ ids: z.array(id) }).meta({ id: 'Enqueued' });
export type Enqueued = z.infer<typeof Enqueued>;

/** `POST /jobs/retry` */
export const Retried = z.object({ retried: count }).meta({ id: 'Retried' });

/** `GET /arrivals`: a job as it came in, and what became of it. */
export const Arrival = z
  .object({
    id,
    kind: z.string(),
    payload: z.unknown(),
    status,
    attempts: count,
    max_attempts: count,
    run_after: time,
    created_at: time,
  })
  .meta({ id: 'Arrival' });

/** `POST /prune`: how many jobs went, or would go. */
export const Pruned = z.object({ pruned: count, dry_run: z.boolean() }).meta({ id: 'Pruned' });
export type Pruned = z.infer<typeof Pruned>;
