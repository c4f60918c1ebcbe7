import type { Param, Queryable } from '../db/port.js';
import { JobqError } from '../errors.js';
import { type Job, STATUSES, type Status } from '../job/job.js';
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

const NEWEST = `
from jobs
where id < $1::bigint
order by id desc
limit $2::int`;

// A range of the index on status, read from its newest end. Asked for as a range of both columns,
// and ordered by both, so that the planner has no other way to that order: with `status = 'done'` it
// may walk the whole table by id, since most jobs are done, through however many pending ones are
// newer (measured with 100,000 of them: 18 ms for 0.5).
const NEWEST_OF_STATUS = `
from jobs
where (status, id) >= ($1::text, 0) and (status, id) < ($1, $2::bigint)
order by status desc, id desc
limit $3::int`;

// The same, of the index on kinds: one range for each state, of which the newest are taken. Only of
// a longer kind is there more to compare than the index holds.
const NEWEST_OF_KIND = `
from (
  select found.id from unnest($1::text[]) as wanted(status), lateral (
    select id from jobs
    where (left(kind, 100), status, id) >= (left($2::text, 100), wanted.status, 0)
      and (left(kind, 100), status, id) < (left($2, 100), wanted.status, $3::bigint)
      and (length($2) < 100 or kind = $2)
    order by left(kind, 100) desc, status desc, id desc
    limit $4::int
  ) as found
  order by id desc
  limit $4
) as newest
join jobs on jobs.id = newest.id
order by jobs.id desc`;

/** Above every id. */
const NO_ID = '9223372036854775807';

/** The place of a job in its order, as text. A time is written to the microsecond. */
const PLACE: Record<Order, string> = {
  newest: 'jobs.id::text',
  // to_char is null of an infinite time.
  next: `coalesce(to_char(run_after at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    run_after::text) || '_' || jobs.id`,
};

/**
 * A page of jobs.
 * @throws JobqError `input` for a cursor that is none of this order.
 */
export async function listJobs(db: Queryable, filter: JobFilter): Promise<Page> {
  const { order = 'newest', limit, withPayload = true } = filter;
  const [sql, params] = select(filter);
  const { rows } = await db.query<Job & { place: string } & Record<string, unknown>>(
    `select ${withPayload ? LISTED : WITHOUT_PAYLOAD}, ${PLACE[order]} as place ${sql}`,
    params,
  );
  const next = rows.length < limit ? undefined : rows.at(-1)?.place;
  return { jobs: rows.map(({ place: _place, ...job }) => job as Job), next };
}

/** A statement from its FROM on. What is asked for all the time has one that an index answers. */
function select(filter: JobFilter): [string, Param[]] {
  const { status, kind, text, attempted, order = 'newest', limit } = filter;
  const cursor = filter.before === undefined ? undefined : readCursor(order, filter.before);
  if (order === 'next' || text || attempted !== undefined) return search(filter, cursor);
  const before = cursor?.id ?? NO_ID;
  if (kind !== undefined) {
    return [NEWEST_OF_KIND, [status === undefined ? STATUSES : [status], kind, before, limit]];
  }
  if (status !== undefined) return [NEWEST_OF_STATUS, [status, before, limit]];
  return [NEWEST, [before, limit]];
}

/** Written out, so that each meets the condition of its partial index. */
const HAS_STATUS: Record<Status, string> = {
  pending: "status = 'pending'",
  running: "status = 'running'",
  done: "status = 'done'",
  dead: "status = 'dead'",
};

/** Any filters, in either order. */
function search(filter: JobFilter, cursor: Cursor | undefined): [string, Param[]] {
  const { status, kind, text, attempted, order = 'newest', limit } = filter;
  const params: Param[] = [];
  const param = (value: Param) => `$${params.push(value)}`;
  const conditions = [
    status && HAS_STATUS[status],
    kind !== undefined && `kind = ${param(kind)}::text`,
    attempted !== undefined && `(attempts > 0) = ${param(attempted)}::boolean`,
    text && matches(param(text)),
    cursor && after(cursor, param),
  ].filter(Boolean);
  return [
    `from jobs
     ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
     order by ${order === 'newest' ? 'id desc' : 'run_after, id'}
     limit ${param(limit)}::int`,
    params,
  ];
}

function matches(text: string): string {
  const found = ['kind', 'payload::text', "coalesce(last_error, '')"].map(
    (column) => `position(lower(${text}::text) in lower(${column})) > 0`,
  );
  return `(id::text = ${text}::text or ${found.join(' or ')})`;
}

interface Cursor {
  id: string;
  /** Of the order by time. */
  time?: string | undefined;
}

/** Ids that a bigint can hold, and such an id with its time before it. */
const CURSORS: Record<Order, RegExp> = {
  newest: /^(?<id>\d{1,18})$/,
  next: /^(?<time>\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z|-?infinity)_(?<id>\d{1,18})$/,
};

function readCursor(order: Order, text: string): Cursor {
  const found = CURSORS[order].exec(text)?.groups;
  if (found !== undefined) return { id: found.id!, time: found.time };
  throw new JobqError(
    'input',
    `before: ${order === 'newest' ? 'is no id' : 'is no place in this order'}`,
    'The Link header of a page holds the cursor of the next one.',
  );
}

function after({ id, time }: Cursor, param: (value: Param) => string): string {
  return time === undefined
    ? `id < ${param(id)}::bigint`
    : `(run_after, id) > (${param(time)}::timestamptz, ${param(id)}::bigint)`;
}
