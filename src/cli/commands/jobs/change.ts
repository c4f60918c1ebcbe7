import type { Command } from 'commander';
import { ask, readJob } from '../../../api/client.js';
import { JobqError } from '../../../errors.js';
import type { Job } from '../../../job/job.js';
import { visible } from '../../../job/text.js';
import { checkJson, JsonFault, RawJson } from '../../../json.js';
import { parseCount, parseWhenThere } from '../../when.js';
import { withJobs } from './request.js';

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
      ...(runAfter !== undefined && {
        run_after: await parseWhenThere(send, runAfter, '--run-after'),
      }),
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
