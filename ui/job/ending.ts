import { compactDuration } from '../../src/job/duration.js';
import type { Attempt } from '../../src/job/job.js';
import type { Tone } from '../text/pieces.js';
import { plain } from '../text/plain.js';

/** How an attempt ended: `exit status 1 after 380ms`. */
export function ending({ outcome, exit_code, signal, duration_ms }: Attempt): string {
  const after = duration_ms === null ? '' : ` after ${compactDuration(duration_ms)}`;
  switch (outcome) {
    case null:
      return 'running';
    case 'exited':
      return `exit status ${exit_code}${after}`;
    case 'signaled':
      return `ended by ${plain(signal ?? 'a signal')}${after}`;
    case 'timeout':
      return `timed out${after}`;
    case 'lost':
      return 'lost with its sandbox or drainer';
    case 'superseded':
      return `came late${after}: changed nothing`;
    case 'released':
      return 'given back at shutdown';
  }
}

export function endingTone({ outcome, exit_code }: Attempt): Tone {
  if (outcome === null) return 'info';
  if (outcome === 'exited') return exit_code === 0 ? 'ok' : 'bad';
  return outcome === 'superseded' || outcome === 'released' ? 'warn' : 'bad';
}
