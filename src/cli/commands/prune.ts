import type { Command } from 'commander';
import { ask } from '../../api/client.js';
import type { Pruned } from '../../api/contract.js';
import { JobqError } from '../../errors.js';
import { formatDuration } from '../../job/duration.js';
import { plural } from '../../job/text.js';
import type { Keep } from '../../queue/prune.js';
import { connect } from '../connect.js';
import { readInvocation } from '../options.js';

/** `jobq-dev prune`: deletes done jobs that are old or too many, with their attempts and outputs. */
export async function prune(command: Command): Promise<number> {
  const { config, output, flags } = readInvocation<{ dryRun?: boolean }>(command);
  const { ageMs, count } = config.keep;
  if (ageMs === undefined && count === undefined) {
    throw new JobqError(
      'usage',
      'a database server keeps all its jobs unless you say what to keep',
      'Say it: --keep 7d (those that finished in the last 7 days), --keep-jobs 10000 (the newest), or both.',
    );
  }
  const connection = await connect(config, 'jobq-dev prune');
  try {
    const text = await ask(connection.send, 'POST', '/prune', {
      keep_ms: ageMs,
      keep_jobs: count,
      dry_run: flags.dryRun ?? false,
    });
    output.document(text);
    const { pruned, dry_run } = JSON.parse(text) as Pruned;
    const what = plural(pruned, 'done job');
    output.line(`${dry_run ? `would delete ${what}` : `deleted ${what}`}; ${kept(config.keep)}`);
    return 0;
  } finally {
    await connection.close();
  }
}

function kept({ ageMs, count }: Keep): string {
  const rules = [
    ...(ageMs === undefined ? [] : [`finished in the last ${formatDuration(ageMs)}`]),
    ...(count === undefined ? [] : [`are the newest ${count}`]),
  ];
  return `kept are those that ${rules.join(' and ')}`;
}
