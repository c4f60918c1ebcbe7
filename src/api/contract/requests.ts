/** What a request may say; checked before anything is done. */
import { z } from 'zod';
import { parseDuration } from '../../job/duration.js';
import { STATUSES } from '../../job/job.js';
import { ORDERS } from '../../queue/list.js';
import { SANDBOXES } from '../../sandbox/port.js';

/** A body larger than this is refused. */
export const BODY_LIMIT_BYTES = 64 * 1024 ** 2;
/** Jobs that one request may insert. */
export const ENQUEUE_LIMIT = 100_000;
/** Jobs on a page. */
export const LIST_LIMIT = 1_000;

const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
/** Of Postgres' int. */
const MOST_OF_INT = 2_147_483_647;
const attempts = z.int().min(1).max(MOST_OF_INT);

/** A job to insert; `payload` is cut out of the body as text, never parsed. */
export const NewJobBody = z
  .strictObject({
    kind: z.string().min(1, 'may not be empty'),
    payload: z.unknown().optional(),
    run_after: instant.optional(),
    max_attempts: attempts.optional(),
    /** How many of it. */
    count: z.int().min(1).max(ENQUEUE_LIMIT).optional(),
  })
  .meta({ id: 'NewJob' });

export const EditBody = z
  .strictObject({
    payload: z.unknown().optional(),
    run_after: instant.optional(),
    max_attempts: attempts.optional(),
  })
  .meta({ id: 'JobChanges' });

export const RetryBody = z.strictObject({ kind: z.string().optional() }).meta({ id: 'RetryAll' });

const yesOrNo = z.enum(['true', 'false']).transform((text) => text === 'true');

/** `GET /stats` */
export const StatsQuery = z.strictObject({
  /** Count everything, however long that takes. */
  exact: yesOrNo.optional(),
});

/** A whole number from 1 to `most`, as a query has it. */
const upTo = (most: number) =>
  z.coerce
    .number()
    .pipe(z.int().min(1).max(most))
    .meta({ type: 'integer', minimum: 1, maximum: most });

/** `GET /arrivals` */
export const ArrivalQuery = z.strictObject({
  /** The last id of the page before. */
  after: z
    .string()
    .regex(/^\d{1,18}$/, 'is no id')
    .optional(),
  /** By the time of the insert. */
  since: instant.optional(),
  until: instant.optional(),
  /** May stand several times. */
  kind: z.union([z.string(), z.array(z.string())]).optional(),
  limit: upTo(LIST_LIMIT).optional(),
});

/** `POST /prune`: which done jobs are to stay; a rule left out keeps everything. */
export const PruneBody = z
  .strictObject({
    /** Milliseconds since they finished. */
    keep_ms: z.number().positive().optional(),
    /** How many, at most. */
    keep_jobs: z.int().min(0).max(MOST_OF_INT).optional(),
    /** Only says how many jobs would go. */
    dry_run: z.boolean().optional(),
  })
  .meta({ id: 'Prune' });

/** `GET /jobs` */
export const ListQuery = z.strictObject({
  status: z.enum(STATUSES).optional(),
  kind: z.string().optional(),
  /** Found in the id, the kind, the payload's text or the last error, in either case. */
  text: z.string().optional(),
  /** Whether at least one attempt has begun. */
  attempted: yesOrNo.optional(),
  /** `newest` id first, or as they are claimed: by `run_after`, then id. */
  order: z.enum(ORDERS).optional(),
  /** Where the page begins: what the `next` link of the page before says. */
  before: z.string().optional(),
  limit: upTo(LIST_LIMIT).optional(),
  /** `false` leaves the payloads out. */
  payload: yesOrNo.optional(),
});

/** `GET /events` */
export const EventsQuery = z.strictObject({ after: z.string().optional() });

/** `GET /jobs/:id/logs` */
export const LogsQuery = z.strictObject({
  attempt: z.coerce.number().pipe(z.int().min(1)).meta({ type: 'integer', minimum: 1 }).optional(),
  /** Goes on until the job is done or dead. */
  follow: yesOrNo.optional(),
});

const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: 'is no duration such as "5m" or "1h30m"' });
  return z.NEVER;
});

/** Points in time that are named, not given. */
export const MOMENTS = ['next-tick', 'next-retry'] as const;

/** `POST /advance`: by how much, or to which moment. */
export const AdvanceBody = z
  .strictObject({
    by: duration.optional(),
    to: z
      .union([z.enum(MOMENTS), instant], 'is neither next-tick, next-retry nor a time')
      .optional(),
  })
  .meta({ id: 'Leap' });

/** `POST /sandbox` */
export const SandboxBody = z
  .strictObject({ provider: z.enum(SANDBOXES) })
  .meta({ id: 'SandboxChoice' });

/** `POST /replay`: a fixture on the emulator's machine. */
export const ReplayBody = z
  .strictObject({
    path: z.string().min(1, 'may not be empty'),
    /** Seconds of the burst in a second of real time; default 1. */
    speed: z.number().positive('must be above 0').max(1_000_000).optional(),
  })
  .meta({ id: 'Burst' });
