import type { Command } from 'commander';
import { ask } from '../../api/client.js';
import { formatDuration } from '../../job/duration.js';
import { STATUSES } from '../../job/job.js';
import { plural } from '../../job/text.js';
import type { Stats } from '../../queue/stats.js';
import { connect } from '../connect.js';
import { readInvocation } from '../options.js';

/** `jobq-dev stats`: counts, and the age of the oldest waiting job. */
export async function stats(command: Command): Promise<number> {
  const { config, output } = readInvocation(command);
  const connection = await connect(config, 'jobq-dev stats');
  try {
    const text = await ask(connection.send, 'GET', '/stats');
    output.document(text);
    const { counts, due, oldest_waiting_ms, next_run_after, last_minute } = JSON.parse(
      text,
    ) as Omit<Stats, 'next_run_after'> & { next_run_after: string | null };
    output.line(STATUSES.map((status) => `${counts[status]} ${status}`).join(', '));
    output.line(
      oldest_waiting_ms === null
        ? 'nothing is due'
        : `oldest waiting job: ${formatDuration(oldest_waiting_ms)} (${due} due)`,
    );
    if (next_run_after !== null) output.line(`next job due at ${next_run_after}`);
    output.line(
      `last minute: ${plural(last_minute.attempts, 'attempt')}, ${last_minute.done} done, ${last_minute.failed} failed`,
    );
    return 0;
  } finally {
    await connection.close();
  }
}
