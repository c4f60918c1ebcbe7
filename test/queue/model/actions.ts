/** One call of one verb, with everything it is given, and what it answers, as plain values. */
import type { Queryable } from '#src/db/port.js';
import { type ErrorCode, JobqError } from '#src/errors.js';
import type { Job } from '#src/job/job.js';
import type { Changes } from '#src/queue/edit.js';
import type { NewJob } from '#src/queue/enqueue.js';
import type { Keep } from '#src/queue/prune.js';
import type { Verdict } from '#src/queue/settle.js';
import type { JobRow } from './tables.js';
import type { Verbs } from './verbs.js';

export type Action =
  | { verb: 'enqueue'; jobs: NewJob[] }
  | { verb: 'claim'; limit: number }
  | { verb: 'settle'; verdict: Verdict }
  | { verb: 'release'; id: string; claimId: string }
  | { verb: 'heartbeat'; claims: { id: string; claimId: string }[] }
  | { verb: 'reap'; leaseMs: number }
  | { verb: 'retry'; id: string }
  | { verb: 'retryAll'; kind: string | undefined }
  | { verb: 'cancel'; id: string }
  | { verb: 'edit'; id: string; changes: Changes }
  | { verb: 'prune'; keep: Keep };

export interface Answers {
  enqueue: string[];
  claim: JobRow[];
  settle: { owned: boolean; status?: string; run_after?: number };
  release: boolean;
  /** Claim ids, sorted. */
  heartbeat: string[];
  reap: { why: string; job: JobRow }[];
  retry: JobRow;
  retryAll: number;
  cancel: { job: JobRow; claimId: string | undefined };
  edit: JobRow;
  /** Sorted. */
  prune: string[];
}

export const PROVIDER = { provider: 'process', isolation: 'none' };
export const REAP_REASON = 'not heard of';

/** What a person or program is told when the verb refuses. */
export interface Refusal {
  refused: ErrorCode;
}

export type Answer = Answers[Action['verb']] | Refusal;

/**
 * Calls the verb. A refusal that a user meets is an answer; anything else that is thrown is a
 * fault.
 */
export async function act(verbs: Verbs, db: Queryable, action: Action, now: Date): Promise<Answer> {
  try {
    return await call(verbs, db, action, now);
  } catch (error) {
    if (error instanceof JobqError) return { refused: error.code };
    throw error;
  }
}

async function call(
  verbs: Verbs,
  db: Queryable,
  action: Action,
  now: Date,
): Promise<Answers[Action['verb']]> {
  switch (action.verb) {
    case 'enqueue':
      return verbs.enqueue(db, { jobs: action.jobs, now });
    case 'claim':
      return (await verbs.claim(db, { limit: action.limit, now, ...PROVIDER })).map(jobRow);
    case 'settle': {
      const { run_after, ...settled } = await verbs.settle(db, action.verdict, { now });
      return { ...settled, ...(run_after && { run_after: run_after.getTime() }) };
    }
    case 'release':
      return verbs.release(db, { id: action.id, claimId: action.claimId, now });
    case 'heartbeat':
      return [...(await verbs.heartbeat(db, { claims: action.claims, now }))].sort();
    case 'reap':
      return (await verbs.reap(db, { now, leaseMs: action.leaseMs, reason: REAP_REASON })).map(
        ({ why, job }) => ({
          why,
          job: jobRow(job),
        }),
      );
    case 'retry':
      return jobRow(await verbs.retry(db, { id: action.id, now }));
    case 'retryAll':
      return verbs.retryAll(db, { kind: action.kind, now });
    case 'cancel': {
      const { job, claimId } = await verbs.cancel(db, { id: action.id, now });
      return { job: jobRow(job), claimId };
    }
    case 'edit':
      return jobRow(await verbs.edit(db, { id: action.id, changes: action.changes, now }));
    case 'prune':
      return (await verbs.prune(db, { now, keep: action.keep })).sort();
  }
}

function jobRow(job: Job): JobRow {
  const ms = (date: Date | null) => (date === null ? null : date.getTime());
  return {
    id: job.id,
    kind: job.kind,
    payload: job.payload,
    status: job.status,
    attempts: job.attempts,
    max_attempts: job.max_attempts,
    run_after: job.run_after.getTime(),
    locked_at: ms(job.locked_at),
    last_error: job.last_error,
    created_at: job.created_at.getTime(),
    claim_id: job.claim_id,
    finished_at: ms(job.finished_at),
    parent_id: job.parent_id,
  };
}
