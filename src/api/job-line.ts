import type { Job } from '../job/job.js';
import { headline } from '../job/text.js';
import type { JobLine } from './contract.js';

/** A job in a line, as events and lists of what runs show it. */
export function jobLine(job: Job): JobLine {
  const { id, kind, status, attempts, max_attempts, run_after, last_error } = job;
  return {
    id,
    kind,
    status,
    attempts,
    max_attempts,
    run_after: run_after.toISOString(),
    last_error: last_error === null ? null : headline(last_error),
  };
}
