/** What a drainer does, in the model. */
import type { Verdict } from '#src/queue/settle.js';
import { type Answers, PROVIDER, REAP_REASON } from './actions.js';
import { type AttemptRow, byId, type JobRow, rest, type Tables } from './tables.js';

/** @param claimed what the real queue answered: the claim ids are its to choose. */
export function claim(
  tables: Tables,
  limit: number,
  now: number,
  claimed: readonly { claim_id: string | null }[],
): JobRow[] {
  const due = tables
    .all((job) => job.status === 'pending' && job.run_after <= now)
    .filter((job) => job.attempts < job.max_attempts)
    .sort((a, b) => a.run_after - b.run_after || byId(a, b))
    .slice(0, Math.max(limit, 0));
  return due.map((job, place) => {
    const claimId = claimed[place]?.claim_id ?? 'a claim id';
    job.status = 'running';
    job.attempts += 1;
    job.locked_at = now;
    job.claim_id = tables.attempt(claimId) === undefined ? claimId : 'one that was never used';
    tables.attempts.push({
      job_id: job.id,
      attempt: job.attempts,
      claim_id: claimId,
      ...PROVIDER,
      started_at: now,
      finished_at: null,
      outcome: null,
      exit_code: null,
      signal: null,
      duration_ms: null,
      stdout: null,
      stderr: null,
      stdout_bytes: null,
      error: null,
    });
    return { ...job };
  });
}

export function settle(tables: Tables, verdict: Verdict, now: number): Answers['settle'] {
  const job = tables.heldBy(verdict.claimId);
  const attempt = tables.attempt(verdict.claimId);
  if (job !== undefined) {
    const status = verdict.ok ? 'done' : job.attempts >= job.max_attempts ? 'dead' : 'pending';
    rest(job, status, now);
    if (!verdict.ok) job.last_error = verdict.error;
    if (status === 'pending') job.run_after = verdict.retryAt.getTime();
    record(attempt!, verdict, verdict.outcome, verdict.error, now);
    return { owned: true, status, run_after: job.run_after };
  }
  if (attempt === undefined) return { owned: false };
  if (isNotHeardOf(attempt)) {
    record(attempt, verdict, 'superseded', attempt.error, now);
    return { owned: false };
  }
  // It was settled before, and the drainer asks again because it never got the answer.
  if (attempt.duration_ms === null || attempt.outcome === 'superseded') return { owned: false };
  const { status, run_after } = tables.jobs.get(verdict.id)!;
  return { owned: true, status: status === 'running' ? 'pending' : status, run_after };
}

function record(
  attempt: AttemptRow,
  verdict: Verdict,
  outcome: string,
  error: string | null,
  now: number,
): void {
  attempt.outcome = outcome;
  attempt.finished_at = now;
  attempt.exit_code = verdict.exitCode ?? null;
  attempt.signal = verdict.signal ?? null;
  attempt.duration_ms = verdict.durationMs;
  attempt.stdout = verdict.stdout.text;
  attempt.stderr = verdict.stderr.text;
  attempt.stdout_bytes = verdict.stdout.totalBytes;
  attempt.error = error;
}

export function release(tables: Tables, claimId: string, now: number): boolean {
  const job = tables.heldBy(claimId);
  const attempt = tables.attempt(claimId);
  if (attempt === undefined) return false;
  if (job !== undefined) {
    rest(job, 'pending', now);
    job.attempts -= 1;
    attempt.outcome = 'released';
    attempt.finished_at = now;
    attempt.error = 'given back: the drainer was stopped';
  } else if (isNotHeardOf(attempt)) {
    attempt.outcome = 'superseded';
    attempt.finished_at = now;
  }
  return attempt.outcome === 'released';
}

/** @returns the claims that are still held, sorted. */
export function heartbeat(
  tables: Tables,
  claims: readonly { claimId: string }[],
  now: number,
): string[] {
  const held = new Set<string>();
  for (const { claimId } of claims) {
    const job = tables.heldBy(claimId);
    if (job === undefined) continue;
    job.locked_at = Math.max(job.locked_at!, now);
    held.add(claimId);
  }
  return [...held].sort();
}

export function reap(tables: Tables, leaseMs: number, now: number): Answers['reap'] {
  const stuck = tables.all((job) => job.status === 'pending' && job.attempts >= job.max_attempts);
  const overdue = tables.all((job) => job.status === 'running' && job.locked_at! <= now - leaseMs);
  for (const job of overdue) {
    const attempt = tables.attempt(job.claim_id!)!;
    attempt.outcome = 'lost';
    attempt.finished_at = now;
    attempt.error = `lost: ${REAP_REASON}`;
    job.last_error = attempt.error;
    const wasLast = job.attempts >= job.max_attempts;
    rest(job, wasLast ? 'dead' : 'pending', now);
    if (!wasLast) job.run_after = now;
  }
  for (const job of stuck) {
    rest(job, 'dead', now);
    const before = job.last_error === null ? '' : `; before that: ${job.last_error}`;
    job.last_error = `no attempts left: attempts (${job.attempts}) had reached max_attempts (${job.max_attempts}) while the job was pending${before}`;
  }
  return [
    ...overdue.map((job) => ({ why: 'lease', job: { ...job } })),
    ...stuck.map((job) => ({ why: 'exhausted', job: { ...job } })),
  ].sort((a, b) => byId(a.job, b.job));
}

/** Its claim was taken away, and its drainer has not spoken yet. */
function isNotHeardOf({ outcome, duration_ms }: AttemptRow): boolean {
  return outcome === 'lost' && duration_ms === null;
}
