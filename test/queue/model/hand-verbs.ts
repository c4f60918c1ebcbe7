/** What an app and a person do, in the model. */
import type { Changes } from '#src/queue/edit.js';
import type { NewJob } from '#src/queue/enqueue.js';
import type { Keep } from '#src/queue/prune.js';
import type { Answers, Refusal } from './actions.js';
import { byId, type JobRow, rest, type Tables } from './tables.js';

const NOT_FOUND: Refusal = { refused: 'not-found' };
const CONFLICT: Refusal = { refused: 'conflict' };
const INPUT: Refusal = { refused: 'input' };

/** @param ids what the real queue answered: ids are its to choose. */
export function enqueue(
  tables: Tables,
  jobs: readonly NewJob[],
  now: number,
  ids: readonly string[],
): string[] | Refusal {
  const isRefused = ({ payload, maxAttempts = 3 }: NewJob) => !isJson(payload) || maxAttempts < 0;
  if (jobs.some(isRefused)) return INPUT;
  return jobs.map((job, place) => tables.insert(job, now, ids[place] ?? 'an id').id);
}

export function retry(tables: Tables, id: string, now: number): JobRow | Refusal {
  const job = tables.jobs.get(id);
  if (job === undefined) return NOT_FOUND;
  if (job.status !== 'dead') return CONFLICT;
  return revive(job, now);
}

export function retryAll(tables: Tables, kind: string | undefined, now: number): number {
  const dead = tables.all(
    (job) => job.status === 'dead' && (kind === undefined || job.kind === kind),
  );
  for (const job of dead) revive(job, now);
  return dead.length;
}

function revive(job: JobRow, now: number): JobRow {
  rest(job, 'pending', now);
  job.attempts = 0;
  job.run_after = now;
  return { ...job };
}

export function cancel(tables: Tables, id: string, now: number): Answers['cancel'] | Refusal {
  const job = tables.jobs.get(id);
  if (job === undefined) return NOT_FOUND;
  if (isOver(job)) return CONFLICT;
  const claimId = job.claim_id ?? undefined;
  if (claimId !== undefined) {
    const attempt = tables.attempt(claimId)!;
    attempt.outcome = 'lost';
    attempt.finished_at = now;
    attempt.error = 'cancelled by hand';
  }
  rest(job, 'dead', now);
  job.last_error = 'cancelled by hand';
  return { job: { ...job }, claimId };
}

/** @param copyId the id of the copy, should one be made. */
export function edit(
  tables: Tables,
  id: string,
  changes: Changes,
  now: number,
  copyId: string,
): JobRow | Refusal {
  const job = tables.jobs.get(id);
  if (job === undefined) return NOT_FOUND;
  if (job.status === 'running') return CONFLICT;
  const payload = changes.payload ?? job.payload;
  const maxAttempts = changes.maxAttempts ?? job.max_attempts;
  if (!isJson(payload) || maxAttempts < (isOver(job) ? 0 : job.attempts)) return INPUT;
  if (isOver(job)) {
    const { kind } = job;
    const copy = { kind, payload, maxAttempts, runAfter: changes.runAfter, parentId: id };
    return { ...tables.insert(copy, now, copyId) };
  }
  job.payload = payload;
  job.max_attempts = maxAttempts;
  job.run_after = changes.runAfter?.getTime() ?? job.run_after;
  return { ...job };
}

/** @returns the ids that are gone, sorted. */
export function prune(tables: Tables, keep: Keep, now: number): string[] {
  const { count = Number.POSITIVE_INFINITY, ageMs = Number.POSITIVE_INFINITY } = keep;
  const gone = tables
    .all(({ status }) => status === 'done')
    .sort((a, b) => b.finished_at! - a.finished_at! || byId(b, a))
    .filter((job, place) => place >= count || job.finished_at! < now - ageMs)
    .map(({ id }) => id);
  tables.delete(gone);
  return gone.sort();
}

function isOver({ status }: JobRow): boolean {
  return status === 'done' || status === 'dead';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
