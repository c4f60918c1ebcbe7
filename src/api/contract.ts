/**
 * What the emulator says over HTTP: the shapes that its server answers with and its clients read.
 * Ids are decimal strings, times ISO 8601 in UTC, payloads keep every digit.
 */
import { z } from 'zod';
import { STATUSES } from '../job/job.js';

/** A body larger than this is refused. */
export const BODY_LIMIT_BYTES = 64 * 1024 ** 2;
/** Jobs that one request may insert. */
export const ENQUEUE_LIMIT = 100_000;
/** Jobs on a page. */
export const LIST_LIMIT = 1_000;

const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const attempts = z.int().min(1).max(2_147_483_647);

/** A job to insert; `payload` is cut out of the body as text, never parsed. */
export const NewJobBody = z.strictObject({
  kind: z.string().min(1, 'may not be empty'),
  payload: z.unknown().optional(),
  run_after: instant.optional(),
  max_attempts: attempts.optional(),
  /** How many of it. */
  count: z.int().min(1).max(ENQUEUE_LIMIT).optional(),
});

export const EditBody = z.strictObject({
  payload: z.unknown().optional(),
  run_after: instant.optional(),
  max_attempts: attempts.optional(),
});

export const RetryBody = z.strictObject({ kind: z.string().optional() });

/** Which done jobs are to stay; a rule left out keeps everything. */
export const PruneBody = z.strictObject({
  /** Milliseconds since they finished. */
  keep_ms: z.number().positive().optional(),
  /** How many, at most. */
  keep_jobs: z.int().min(0).max(2_147_483_647).optional(),
  /** Only says how many jobs would go. */
  dry_run: z.boolean().optional(),
});

/** `POST /prune`: how many jobs went, or would go. */
export interface Pruned {
  pruned: number;
  dry_run: boolean;
}

export const StatsQuery = z.strictObject({
  /** Count everything, however long that takes. */
  exact: z.enum(['true', 'false']).optional(),
});

export const ListQuery = z.strictObject({
  status: z.enum(STATUSES).optional(),
  kind: z.string().optional(),
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'is no id')
    .optional(),
  limit: z.coerce.number().pipe(z.int().min(1).max(LIST_LIMIT)).optional(),
});

/** `GET /arrivals`; `kind` may stand several times. */
export const ArrivalQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,18}$/, 'is no id')
    .optional(),
  since: instant.optional(),
  until: instant.optional(),
  limit: z.coerce.number().pipe(z.int().min(1).max(LIST_LIMIT)).optional(),
});

/** `GET /info`: what runs here. */
export interface Info {
  version: string;
  pid: number;
  database: { driver: string; location: string };
  sandbox: { provider: string; description: string; isolation: string };
  handlers: string;
  cron: { expression: string; timezone: string; next_tick: string | null; paused: boolean };
  concurrency: number;
  clock_offset_ms: number;
  now: string;
}

/** `GET /jobs/:id/explain` */
export interface Explanation {
  id: string;
  status: (typeof STATUSES)[number];
  reasons: string[];
}

/** An error, as RFC 9457 has it, with this tool's code and what to do. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  hint?: string;
}
