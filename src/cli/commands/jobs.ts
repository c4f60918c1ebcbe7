import type { Command } from 'commander';
import { ask, type JobWithAttempts, readJob, readJobs, type Send } from '../../api/client.js';
import type { Explanation } from '../../api/contract.js';
import { JobqError } from '../../errors.js';
import { describeAttempt } from '../../job/describe-attempt.js';
import type { Job } from '../../job/job.js';
import { firstLine, headline, visible, visibleLines } from '../../job/text.js';
import { checkJson, JsonFault, RawJson } from '../../json.js';
import { connect } from '../connect.js';
import { type Invocation, readInvocation } from '../options.js';
import type { Output } from '../output.js';
import { table } from '../table.js';
import { parseCount, parseWhen } from '../when.js';

/** Runs one request of a `jobs` command through the owner or a world of its own. */
async function withJobs<Flags>(
  command: Command,
  work: (send: Send, invocation: Invocation<Flags>) => Promise<void>,
): Promise<number> {
  const invocation = readInvocation<Flags>(command);
  const connection = await connect(invocation.config, `jobq-dev jobs ${command.name()}`);
  try {
    await work(connection.send, invocation);
    return 0;
  } finally {
    await connection.close();
  }
}

interface ListFlags {
  status?: string;
  kind?: string;
  before?: string;
  limit?: string;
}

/** `jobq-dev jobs list` */
export function list(command: Command): Promise<number> {
  return withJobs<ListFlags>(command, async (send, { output, flags }) => {
    const query = new URLSearchParams({
      ...(flags.status && { status: flags.status }),
      ...(flags.kind && { kind: flags.kind }),
      ...(flags.before && { before: flags.before }),
      ...(flags.limit && { limit: String(parseCount(flags.limit, '--limit', 1, 1_000)) }),
    });
    const text = await ask(send, 'GET', `/jobs?${query}`);
    output.document(text);
    const jobs = readJobs(text);
    if (jobs.length === 0) {
      const filtered = [flags.kind, flags.status, flags.before].some(
        (given) => given !== undefined,
      );
      output.line(
        filtered
          ? 'no job matches; jobq-dev jobs list shows all, jobq-dev stats counts them'
          : 'no jobs; jobq-dev enqueue KIND inserts one',
      );
      return;
    }
    const rows = jobs.map((job) => [
      job.id,
      visible(job.kind),
      job.status,
      `${job.attempts}/${job.max_attempts}`,
      job.status === 'pending'
        ? job.run_after.toISOString()
        : (job.finished_at?.toISOString() ?? ''),
      visible(job.last_error === null ? '' : headline(job.last_error)),
    ]);
    const header = ['id', 'kind', 'status', 'attempts', 'due or finished', 'last error'];
    for (const line of table(header, rows, { columns: output.columns, right: [0] })) {
      output.line(line);
    }
  });
}

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

/** `jobq-dev jobs logs ID`: what the attempts wrote. */
export function logs(id: string, command: Command): Promise<number> {
  return withJobs<{ attempt?: string }>(command, async (send, { output, flags }) => {
    const job = readJob(await ask(send, 'GET', `/jobs/${encodeURIComponent(id)}`));
    const wanted =
      flags.attempt === undefined ? undefined : parseCount(flags.attempt, '--attempt', 1);
    const attempts = (job.attempts_log ?? []).filter(
      ({ attempt }) => wanted === undefined || attempt === wanted,
    );
    output.document(
      attempts.map(({ attempt, outcome, stdout, stderr }) => ({
        attempt,
        outcome,
        stdout,
        stderr,
      })),
    );
    if (attempts.length === 0) output.line(`job ${id} has no such attempt yet`);
    for (const attempt of attempts) {
      output.line(`── attempt ${attempt.attempt}: ${describeAttempt(attempt)}`);
      for (const [name, text] of [
        ['stdout', attempt.stdout],
        ['stderr', attempt.stderr],
      ] as const) {
        if (!text) continue;
        output.line(`── ${name}`);
        output.line(visibleLines(text).replace(/\n$/, ''));
      }
    }
  });
}

/** `jobq-dev jobs retry ID` or `--all [--kind KIND]` */
export function retry(id: string | undefined, command: Command): Promise<number> {
  return withJobs<{ all?: boolean; kind?: string }>(command, async (send, { output, flags }) => {
    if ((id === undefined) !== (flags.all === true)) {
      throw new JobqError(
        'usage',
        id === undefined ? 'no job is named' : 'both an id and --all are given',
        'jobq-dev jobs retry ID, or jobq-dev jobs retry --all [--kind KIND].',
      );
    }
    if (id !== undefined && flags.kind !== undefined) {
      throw new JobqError(
        'usage',
        '--kind has no meaning with an id',
        `jobq-dev jobs retry ${id}, or jobq-dev jobs retry --all --kind ${visible(flags.kind)}.`,
      );
    }
    if (id === undefined) {
      const body = flags.kind === undefined ? {} : { kind: flags.kind };
      const text = await ask(send, 'POST', '/jobs/retry', body);
      output.document(text);
      output.line(
        `${(JSON.parse(text) as { retried: number }).retried} dead jobs are pending again`,
      );
      return;
    }
    const text = await ask(send, 'POST', `/jobs/${encodeURIComponent(id)}/retry`);
    output.document(text);
    output.line(`job ${id} is pending again, with all its attempts`);
  });
}

/** `jobq-dev jobs cancel ID` */
export function cancel(id: string, command: Command): Promise<number> {
  return withJobs(command, async (send, { output }) => {
    output.document(await ask(send, 'POST', `/jobs/${encodeURIComponent(id)}/cancel`));
    output.line(`job ${id} is cancelled: it is dead now`);
  });
}

interface EditFlags {
  payload?: string;
  runAfter?: string;
  maxAttempts?: string;
}

/** `jobq-dev jobs edit ID --payload … | --run-after … | --max-attempts …` */
export function edit(id: string, command: Command): Promise<number> {
  return withJobs<EditFlags>(command, async (send, { output, flags }) => {
    const { payload, runAfter, maxAttempts } = flags;
    if (payload === undefined && runAfter === undefined && maxAttempts === undefined) {
      throw new JobqError(
        'usage',
        'nothing to change is given',
        'Say what: --payload JSON, --run-after 5m, --max-attempts 5.',
      );
    }
    const text = await ask(send, 'PATCH', `/jobs/${encodeURIComponent(id)}`, {
      ...(payload !== undefined && { payload: new RawJson(json(payload)) }),
      ...(runAfter !== undefined && { run_after: parseWhen(runAfter, '--run-after') }),
      ...(maxAttempts !== undefined && {
        max_attempts: parseCount(maxAttempts, '--max-attempts', 1, 2_147_483_647),
      }),
    });
    output.document(text);
    const job: Job = readJob(text);
    output.line(
      job.id === id
        ? `job ${id} is changed`
        : `job ${id} is over and keeps its history; job ${job.id} is its edited copy`,
    );
  });
}

function json(text: string): string {
  try {
    checkJson(text);
    return text;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new JobqError('input', `--payload is not JSON: ${error.message}`, 'Nothing was changed.');
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
