/**
 * `GET /events`: what happens, as server-sent events. The id of a message says where to go on
 * after a break (`Last-Event-ID`, or `?after=`); it means nothing else.
 */
import { z } from 'zod';
import { JobLine } from './jobs.js';
import { count, id, milliseconds, time } from './scalars.js';

const at = time;
const claim_id = z.string();
const isolation = z.enum(['none', 'namespaces', 'microvm']);
const outcome = z.enum(['exited', 'signaled', 'timeout', 'lost']);

/** The data of each event, by its name. */
export const EventData = z
  .object({
    tick: z.object({ at, cause: z.enum(['schedule', 'catch-up', 'by hand', 'insert']) }),
    /** A tick's drain is over. */
    drained: z.object({
      at,
      counts: z.object({ claimed: count, done: count, retried: count, dead: count, reaped: count }),
    }),
    claimed: z.object({
      at,
      job: JobLine,
      claim_id,
      provider: z.string(),
      isolation,
      timeout_ms: milliseconds,
    }),
    /** What a handler wrote, gathered for a moment. */
    output: z.object({
      job_id: id,
      claim_id,
      stream: z.enum(['stdout', 'stderr']),
      text: z.string(),
      /** Whether text before this was left out: it came faster than it is told. */
      truncated: z.boolean(),
    }),
    settled: z.object({
      at,
      /** As it is now. */
      job: JobLine,
      claim_id,
      outcome,
      /** The headline of what went wrong. */
      error: z.string().nullable(),
      duration_ms: milliseconds,
      peak_memory_bytes: count.nullable(),
    }),
    /** It ended after its claim had passed to another, or was cancelled: nothing was changed. */
    superseded: z.object({ at, job: JobLine, claim_id, outcome }),
    released: z.object({ at, job: JobLine, claim_id }),
    reaped: z.object({ at, job: JobLine, why: z.enum(['lease', 'exhausted']) }),
    enqueued: z.object({ at, count, first_id: id, last_id: id }),
    /** By hand: retried, cancelled, edited, or an edited copy made; null when it was many at once. */
    changed: z.object({ at, job: JobLine.nullable(), count }),
    /** The clock was moved ahead. */
    clock: z.object({ at, offset_ms: milliseconds }),
    paused: z.object({ at, paused: z.boolean() }),
    /** Another provider is used from the next attempt on. */
    sandbox: z.object({ at, provider: z.string(), description: z.string(), isolation }),
    database: z.object({ at, reachable: z.boolean(), message: z.string() }),
    warning: z.object({ at, message: z.string() }),
    /** Events before this are gone, or were another emulator's: read everything anew. */
    reset: z.object({}),
  })
  .meta({ id: 'EventData' });
export type EventData = z.infer<typeof EventData>;
export type EventName = keyof EventData;

/** One message of the stream. */
export type StreamEvent = {
  [Name in EventName]: { id: string; name: Name; data: EventData[Name] };
}[EventName];
