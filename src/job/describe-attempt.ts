import { formatDuration } from './duration.js';
import type { Attempt } from './job.js';
import { headline, visible } from './text.js';

/** What became of an attempt, in a line: `exit status 1 after 2 s in process (isolation: none): …`. */
export function describeAttempt(attempt: Attempt): string {
  const took = attempt.duration_ms === null ? '' : ` after ${formatDuration(attempt.duration_ms)}`;
  const why = attempt.error === null ? '' : `: ${visible(headline(attempt.error))}`;
  return `${ending(attempt)}${took} in ${place(attempt)}${why}`;
}

function ending({ outcome, exit_code, signal }: Attempt): string {
  if (outcome === null) return 'running';
  if (outcome === 'exited') return `exit status ${exit_code}`;
  if (outcome === 'signaled') return `ended by ${signal ?? 'a signal'}`;
  return outcome;
}

function place({ provider, isolation }: Attempt): string {
  return `${provider ?? 'unknown'} (isolation: ${isolation ?? 'unknown'})`;
}
