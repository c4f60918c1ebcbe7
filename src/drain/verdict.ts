import type { Claim } from '../queue/claim.js';
import type { Verdict } from '../queue/settle.js';
import type { AttemptResult } from './attempt.js';

/** What an attempt came to, as the queue settles it. */
export function verdictOf(job: Claim, result: AttemptResult, retryAt: Date): Verdict {
  const { ok, outcome, error, durationMs, peakMemoryBytes, stdout, stderr } = result;
  return {
    id: job.id,
    claimId: job.claim_id,
    ok,
    outcome: outcome.kind,
    exitCode: outcome.kind === 'exited' ? outcome.code : undefined,
    signal: (outcome.kind === 'signaled' && outcome.signal) || undefined,
    error,
    durationMs,
    peakMemoryBytes,
    stdout,
    stderr,
    retryAt,
  };
}
