import type { Param, Queryable } from '../db/port.js';
import { JobqError } from '../errors.js';
import type { Job, Status } from '../job/job.js';
import { JOB_COLUMNS } from './columns.js';

/** Newest id first, or as they are claimed: by `run_after`, then id. */
export const ORDERS = ['newest', 'next'] as const;
export type Order = (typeof ORDERS)[number];

export interface JobFilter {
  status?: Status | undefined;
  kind?: string | undefined;
  /** Found in the id, the kind, the payload's text or the last error, in either case. */
  text?: string | undefined;
  /** Whether at least one attempt has begun. */
  attempted?: boolean | undefined;
  /** Default: newest. */
  order?: Order | undefined;
  /** The cursor of the page before. */
  before?: string | undefined;
  limit: number;
  /** Default: true. */
  withPayload?: boolean | undefined;
}

export interface Page {
  jobs: Job[];
  /** The cursor of the next page; undefined on the last one. */
  next: string | undefined;
}

// A list shows one line of an error. Megabytes of it stay in the table (good_job 1769).
const LISTED = JOB_COLUMNS.replace('jobs.last_error', 'left(jobs.last_error, 2000) as last_error');
const WITHOUT_PAYLOAD = LISTED.replace('jobs.payload::text as payload', "'null' as payload");

/** Written out, so that each meets the condition of its partial index. */
const HAS_STATUS: Record<Status, string> = {
  pending: "status = 'pending'",
  running: "status = 'running'",
  done: "status = 'done'",
  dead: "status = 'dead'",
};

/** The place of a job in its order, as text. A time is written to the microsecond. */
const CURSOR: Record<Order, string> = {
  newest: 'id::text',
  // to_char is null of an infinite time.
  next: `coalesce(to_char(run_after at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    run_after::text) || '_' || id`,
};

/**
 * A page of jobs.
 * @throws JobqError `input` for a cursor that is none of this order.
 */
export async function listJobs(db: Queryable, filter: JobFilter): Promise<Page> {
  const { status, kind, text, attempted, order = 'newest', before, limit } = filter;
  const params: Param[] = [];
  const param = (value: Param) => `$${params.push(value)}`;
  const conditions = [
    status && HAS_STATUS[status],
    kind !== undefined && `kind = ${param(kind)}::text`,
    attempted !== undefined && `(attempts > 0) = ${param(attempted)}::boolean`,
    text && matches(param(text)),
    before !== undefined && after(order, before, param),
  ].filter(Boolean);
  const { rows } = await db.query<Job & { place: string } & Record<string, unknown>>(
    `select ${filter.withPayload === false ? WITHOUT_PAYLOAD : LISTED}, ${CURSOR[order]} as place
     from jobs
     ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
     order by ${order === 'newest' ? 'id desc' : 'run_after, id'}
     limit ${param(limit)}::int`,
    params,
  );
  const next = rows.length < limit ? undefined : rows.at(-1)?.place;
  return { jobs: rows.map(({ place: _place, ...job }) => job as Job), next };
}

function matches(text: string): string {
  const found = ['kind', 'payload::text', "coalesce(last_error, '')"].map(
    (column) => `position(lower(${text}::text) in lower(${column})) > 0`,
  );
  return `(id::text = ${text}::text or ${found.join(' or ')})`;
}

/** Ids that a bigint can hold, and such an id with its time before it. */
const PLACES: Record<Order, RegExp> = {
  newest: /^(\d{1,18})$/,
  next: /^(\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z|-?infinity)_(\d{1,18})$/,
};

function after(order: Order, cursor: string, param: (value: Param) => string): string {
  const [, first, second] = PLACES[order].exec(cursor) ?? [];
  if (first === undefined) {
    throw new JobqError(
      'input',
      `before: ${order === 'newest' ? 'is no id' : 'is no place in this order'}`,
      'The Link header of a page holds the cursor of the next one.',
    );
  }
  return second === undefined
    ? `id < ${param(first)}::bigint`
    : `(run_after, id) > (${param(first)}::timestamptz, ${param(second)}::bigint)`;
}
