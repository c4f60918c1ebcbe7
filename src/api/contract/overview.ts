/** What runs here, and how the queue stands. */
import { z } from 'zod';
import { STATUSES } from '../../job/job.js';
import { JobLine } from './jobs.js';
import { count, milliseconds, time } from './scalars.js';

/** `GET /info`: what runs here. */
export const Info = z
  .object({
    version: z.string(),
    pid: z.int(),
    database: z.object({ driver: z.string(), location: z.string() }),
    sandbox: z.object({ provider: z.string(), description: z.string(), isolation: z.string() }),
    handlers: z.string(),
    cron: z.object({
      expression: z.string(),
      timezone: z.string(),
      next_tick: time.nullable(),
      paused: z.boolean(),
      /** Whether inserts are picked up at once. */
      wake: z.boolean(),
    }),
    concurrency: count,
    /** Of one attempt. */
    timeout_ms: milliseconds,
    lease_ms: milliseconds,
    /** The oldest waiting job should not be older than this. */
    alert_age_ms: milliseconds,
    /** Where it answers; null where it does not. */
    urls: z.object({ http: z.string().nullable(), postgres: z.string().nullable() }),
    clock_offset_ms: milliseconds,
    now: time,
  })
  .meta({ id: 'Info' });
export type Info = z.infer<typeof Info>;

/** `GET /stats` */
export const StatsAnswer = z
  .object({
    counts: z.object({ pending: count, running: count, done: count, dead: count }),
    due: count,
    /** Which of the numbers above are estimates. */
    estimated: z.array(z.enum([...STATUSES, 'due'])),
    oldest_waiting_ms: milliseconds.nullable(),
    next_run_after: time.nullable(),
    last_minute: z.object({ attempts: count, done: count, failed: count }),
  })
  .meta({ id: 'Stats' });
export type StatsAnswer = z.infer<typeof StatsAnswer>;

/** An attempt that runs in this emulator. */
export const Running = z
  .object({
    job: JobLine,
    claim_id: z.string(),
    provider: z.string(),
    isolation: z.string(),
    started_at: time,
    timeout_ms: milliseconds,
    /** The last line that it wrote, without control sequences; empty before the first. */
    last_output: z.string(),
  })
  .meta({ id: 'Running' });
export type Running = z.infer<typeof Running>;

/** The age of the oldest waiting job as it was once; null: none was waiting. */
export const WaitingSample = z
  .object({ at: time, oldest_waiting_ms: milliseconds.nullable() })
  .meta({ id: 'WaitingSample' });
export type WaitingSample = z.infer<typeof WaitingSample>;

/** `GET /overview`: everything that one look needs. */
export const Overview = z
  .object({
    info: Info,
    /** The kinds that there are handlers for. */
    handler_kinds: z.array(z.string()),
    stats: StatsAnswer,
    running: z.array(Running),
    /** The last hour, a sample a minute, oldest first. */
    history: z.array(WaitingSample),
    /** This answer holds everything up to this event; `GET /events?after=` goes on from here. */
    event_id: z.string(),
  })
  .meta({ id: 'Overview' });
export type Overview = z.infer<typeof Overview>;
