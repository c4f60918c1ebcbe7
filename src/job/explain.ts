import { formatDuration } from './duration.js';
import type { Job } from './job.js';
import { headline } from './text.js';

/** How many jobs ahead of one are counted; of a longer line no one waits for its number. */
export const AHEAD_COUNTED = 1_000;

/** What is known around a job when someone asks why it is not running. */
export interface Circumstances {
  now: Date;
  /** Due jobs that are claimed before this one; above `AHEAD_COUNTED` it is just more than that. */
  ahead: number;
  /** Jobs that are running. */
  running: number;
  concurrency: number;
  /** The next tick; undefined when no cron drainer runs here. */
  nextTick: Date | undefined;
  paused: boolean;
  /** Why the kind has no handler here; undefined when it has one. */
  noHandler: string | undefined;
  leaseMs: number;
}

/** Why a job is not running, or what it is doing, in sentences. */
export function explain(job: Job, around: Circumstances): string[] {
  switch (job.status) {
    case 'done':
      return [`It is done${ago(job.finished_at, around.now)}, at attempt ${job.attempts}.`];
    case 'dead':
      return explainDead(job, around);
    case 'running':
      return explainRunning(job, around);
    case 'pending':
      return explainPending(job, around);
  }
}

function explainDead(job: Job, { now }: Circumstances): string[] {
  const used = `${job.attempts} of ${job.max_attempts} attempts are used`;
  return [
    `It is dead${ago(job.finished_at, now)}: ${used}, and nothing runs it again by itself.`,
    ...(job.last_error === null ? [] : [`Its last error: ${headline(job.last_error)}`]),
    `To run it again: jobq-dev jobs retry ${job.id}`,
  ];
}

function explainRunning(job: Job, { now, leaseMs }: Circumstances): string[] {
  const silentMs = job.locked_at === null ? leaseMs : now.getTime() - job.locked_at.getTime();
  const left = leaseMs - silentMs;
  return [
    `It is running: attempt ${job.attempts} of ${job.max_attempts}, last sign of life ${formatDuration(silentMs)} ago.`,
    left > 0
      ? `If its drainer has died, the reaper returns it in ${formatDuration(left)}, when the lease ends.`
      : 'Its lease is over: the next tick reaps it.',
  ];
}

function explainPending(job: Job, around: Circumstances): string[] {
  const { now, nextTick, noHandler } = around;
  const reasons: string[] = [];
  if (job.attempts >= job.max_attempts) {
    return [
      `It can never be claimed: its attempts (${job.attempts}) have reached max_attempts (${job.max_attempts}). The next tick makes it dead.`,
    ];
  }
  const waitMs = job.run_after.getTime() - now.getTime();
  if (waitMs > 0) {
    reasons.push(
      job.attempts > 0
        ? `Attempt ${job.attempts} of ${job.max_attempts} failed; it is tried again in ${formatDuration(waitMs)}, at ${job.run_after.toISOString()}.`
        : `It is not due yet: run_after is in ${formatDuration(waitMs)}, at ${job.run_after.toISOString()}.`,
    );
    if (job.last_error !== null) reasons.push(`Its last error: ${headline(job.last_error)}`);
  } else {
    reasons.push(`It has been due for ${formatDuration(-waitMs)}.`);
    if (job.attempts > 0) {
      reasons.push(
        `Attempt ${job.attempts} of ${job.max_attempts} failed: ${headline(job.last_error ?? '')}`,
      );
    }
    reasons.push(...explainWaiting(around));
  }
  if (noHandler !== undefined) reasons.push(`When it runs it will fail: ${noHandler}`);
  if (waitMs > 0 && nextTick === undefined) reasons.push(around.paused ? PAUSED : NO_DRAINER);
  return reasons;
}

const PAUSED =
  'The drainer is paused: nothing is claimed until it goes on (jobq-dev resume), or drains by hand (jobq-dev drain).';

const NO_DRAINER =
  'No drainer runs here: start jobq-dev, or run jobq-dev drain once, as production’s cron does.';

function explainWaiting(around: Circumstances): string[] {
  const { now, ahead, running, concurrency, nextTick, paused } = around;
  if (paused) return [PAUSED];
  const line = placeOf(ahead);
  if (nextTick !== undefined && running >= concurrency) {
    return [`All ${concurrency} slots are taken. ${line}`];
  }
  if (nextTick === undefined) return [line, NO_DRAINER];
  return [
    `${line} The next tick claims in ${formatDuration(nextTick.getTime() - now.getTime())}, at ${nextTick.toISOString()}.`,
  ];
}

function placeOf(ahead: number): string {
  if (ahead === 0) return 'It is first in line.';
  if (ahead === 1) return '1 due job is before it.';
  const count = ahead > AHEAD_COUNTED ? `More than ${AHEAD_COUNTED}` : String(ahead);
  return `${count} due jobs are before it.`;
}

function ago(when: Date | null, now: Date): string {
  return when === null ? '' : ` since ${formatDuration(now.getTime() - when.getTime())}`;
}
