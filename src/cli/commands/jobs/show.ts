import type { Command } from 'commander';
import { ask, type JobWithAttempts, readJob } from '../../../api/client.js';
import type { Explanation } from '../../../api/contract.js';
import { describeAttempt } from '../../../job/describe-attempt.js';
import { firstLine, visible, visibleLines } from '../../../job/text.js';
import type { Output } from '../../output.js';
import { withJobs } from './request.js';

/** `jobq-dev jobs show ID` */
export function show(id: string, command: Command): Promise<number> {
  return withJobs(command, async (send, { output }) => {
    const text = await ask(send, 'GET', `/jobs/${encodeURIComponent(id)}`);
    output.document(text);
    printJob(readJob(text), output);
  });
}

function printJob(job: JobWithAttempts, output: Output): void {
  output.line(
    `job ${job.id} ${visible(job.kind)}: ${job.status}, attempt ${job.attempts} of ${job.max_attempts}`,
  );
  output.line(`  created   ${job.created_at.toISOString()}`);
  output.line(`  run after ${job.run_after.toISOString()}`);
  if (job.finished_at !== null) output.line(`  finished  ${job.finished_at.toISOString()}`);
  if (job.parent_id !== null) output.line(`  edited from job ${job.parent_id}`);
  output.line(`  payload   ${visible(firstLine(job.payload, 500))}`);
  if (job.last_error !== null) {
    output.line('  last error');
    for (const line of visibleLines(job.last_error).split('\n')) output.line(`    ${line}`);
  }
  for (const attempt of job.attempts_log ?? []) {
    output.line(`  attempt ${attempt.attempt}  ${describeAttempt(attempt)}`);
  }
}

/** `jobq-dev jobs explain ID`: why a job is not running, in words. */
export function explain(id: string, command: Command): Promise<number> {
  return withJobs(command, async (send, { output }) => {
    const text = await ask(send, 'GET', `/jobs/${encodeURIComponent(id)}/explain`);
    output.document(text);
    const { status, reasons } = JSON.parse(text) as Explanation;
    output.line(`job ${id} is ${status}.`);
    for (const reason of reasons) output.line(visible(reason));
  });
}
