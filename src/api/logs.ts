/** What the attempts of a job wrote, as text; on request until the job is over. */
import { describeAttempt } from '../job/describe-attempt.js';
import { formatDuration } from '../job/duration.js';
import type { Attempt, Job, Status } from '../job/job.js';
import { visible } from '../job/text.js';
import type { StreamEvent } from './contract.js';
import type { EventLog } from './event-log.js';

export interface LogsOptions {
  /** Only this attempt. */
  attempt?: number | undefined;
  /** Goes on until the job is done or dead. */
  follow: boolean;
  signal: AbortSignal;
}

type JobWithAttempts = Job & { attempts_log: Attempt[] };

/**
 * Pieces of text: each attempt with a line that says what became of it, stdout, then stderr. What
 * is written while the reader follows comes as it is written.
 * @param show reads the job, with what its running attempt has written so far.
 * @throws JobqError `not-found`, before the first piece.
 */
export async function* logs(
  log: EventLog,
  show: () => Promise<JobWithAttempts>,
  { attempt, follow, signal }: LogsOptions,
): AsyncGenerator<string> {
  // First the place in the log, then what had been written by then, then the table: what an event
  // after that place tells is in none of the two, or in the table's attempts: claimed or ended.
  const after = log.lastId;
  const job = await show();
  const isWanted = (number: number) => attempt === undefined || attempt === number;
  // A line of ours begins a line, wherever the handler's text stopped.
  let lineEnd = '';
  for (const one of job.attempts_log) {
    if (!isWanted(one.attempt)) continue;
    const text = lineEnd + written(one);
    yield text;
    lineEnd = text.endsWith('\n') ? '' : '\n';
  }
  if (!follow || isOver(job.status)) {
    yield lineEnd;
    return;
  }

  const isTold = new Set(
    job.attempts_log.filter(({ outcome }) => outcome !== null).map(({ claim_id }) => claim_id),
  );
  const numbers = new Map(job.attempts_log.map(({ claim_id, attempt }) => [claim_id, attempt]));
  for await (const events of log.follow({ after, signal })) {
    for (const event of events) {
      if (event.name === 'reset') yield `${lineEnd}── some of what was written is left out here\n`;
      const claimId = 'claim_id' in event.data ? event.data.claim_id : undefined;
      if (jobOf(event) !== job.id || (claimId !== undefined && isTold.has(claimId))) continue;
      if (event.name === 'claimed') {
        // One that was claimed while the table was read stands above.
        if (numbers.has(event.data.claim_id)) continue;
        numbers.set(event.data.claim_id, event.data.job.attempts);
      }
      if (claimId === undefined || isWanted(numbers.get(claimId) ?? 0)) {
        yield event.name === 'output' ? event.data.text : `${lineEnd}── ${told(event)}\n`;
        lineEnd = event.name !== 'output' || event.data.text.endsWith('\n') ? '' : '\n';
      }
      if ('job' in event.data && event.data.job && isOver(event.data.job.status)) return;
    }
  }
}

function isOver(status: Status): boolean {
  return status === 'done' || status === 'dead';
}

function written(attempt: Attempt): string {
  let text = `── attempt ${attempt.attempt}: ${describeAttempt(attempt)}\n`;
  for (const name of ['stdout', 'stderr'] as const) {
    if (attempt[name]) text += `${text.endsWith('\n') ? '' : '\n'}── ${name}\n${attempt[name]}`;
  }
  return text;
}

function jobOf({ data }: StreamEvent): string | undefined {
  if ('job_id' in data) return data.job_id;
  return 'job' in data ? data.job?.id : undefined;
}

/** What happened to a job, in a line. */
function told({ name, data }: StreamEvent): string {
  switch (name) {
    case 'claimed':
      return `attempt ${data.job.attempts}: running in ${data.provider} (isolation: ${data.isolation})`;
    case 'settled': {
      const took = formatDuration(data.duration_ms);
      if (data.error === null) return `done after ${took}`;
      const next = data.job.status === 'dead' ? 'dead' : `again at ${data.job.run_after}`;
      return `failed after ${took}, ${next}: ${visible(data.error)}`;
    }
    case 'superseded':
      return 'ended after its claim was gone: nothing was changed';
    case 'released':
      return 'given back: the drainer was stopped';
    case 'reaped':
      return `taken back by the reaper: ${visible(data.job.last_error ?? '')}`;
    default:
      return `changed by hand: ${('job' in data && data.job?.status) || 'as before'}`;
  }
}
