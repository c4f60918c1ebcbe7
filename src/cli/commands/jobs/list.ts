import type { Command } from 'commander';
import { ask, askPage, readJobs } from '../../../api/client.js';
import type { Relative } from '../../../api/contract.js';
import { cut } from '../../../columns.js';
import { headline, shownKind, visible } from '../../../job/text.js';
import type { Output } from '../../output.js';
import { table } from '../../table.js';
import { parseCount } from '../../when.js';
import { withJobs } from './request.js';

interface ListFlags {
  status?: string;
  kind?: string;
  text?: string;
  attempted?: boolean;
  order?: string;
  before?: string;
  limit?: string;
}

/** `jobq-dev jobs list` */
export function list(command: Command): Promise<number> {
  return withJobs<ListFlags>(command, async (send, { output, flags }) => {
    const query = new URLSearchParams({
      ...(flags.status && { status: flags.status }),
      ...(flags.kind && { kind: flags.kind }),
      ...(flags.text && { text: flags.text }),
      ...(flags.attempted && { attempted: 'true' }),
      ...(flags.order && { order: flags.order }),
      ...(flags.before && { before: flags.before }),
      ...(flags.limit && { limit: String(parseCount(flags.limit, '--limit', 1, 1_000)) }),
    });
    const { text, next } = await askPage(send, `/jobs?${query}`);
    output.document(text);
    const jobs = readJobs(text);
    if (jobs.length === 0) {
      output.line(
        query.size > 0
          ? 'no job matches; jobq-dev jobs list shows all, jobq-dev stats counts them'
          : 'no jobs; jobq-dev enqueue KIND inserts one',
      );
      return;
    }
    const rows = jobs.map((job) => [
      job.id,
      kindCell(job.kind, output),
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
    if (next !== undefined) output.note(`there are more: add --before ${next}`);
  });
}

/** `jobq-dev jobs lineage ID`: what it was edited from, and every edited copy. */
export function lineage(id: string, command: Command): Promise<number> {
  return withJobs(command, async (send, { output }) => {
    const text = await ask(send, 'GET', `/jobs/${encodeURIComponent(id)}/lineage`);
    output.document(text);
    const rows = (JSON.parse(text) as Relative[]).map((job) => [
      job.id,
      job.parent_id ?? '',
      kindCell(job.kind, output),
      job.status,
      `${job.attempts}/${job.max_attempts}`,
      visible(job.last_error ?? ''),
    ]);
    const header = ['id', 'edited from', 'kind', 'status', 'attempts', 'last error'];
    for (const line of table(header, rows, { columns: output.columns, right: [0, 1] })) {
      output.line(line);
    }
  });
}

/** A kind may be of any length, and the other columns are to be seen beside it. */
function kindCell(kind: string, { columns }: Output): string {
  return cut(shownKind(kind), Math.max(16, Math.floor(columns / 3)));
}
