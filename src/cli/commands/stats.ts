import type { Command } from 'commander';
import { ask } from '../../api/client.js';
import { formatDuration } from '../../job/duration.js';
import { STATUSES, type Status } from '../../job/job.js';
import { plural } from '../../job/text.js';
import { COUNTED, type Stats } from '../../queue/stats.js';
import { connect } from '../connect.js';
import { readInvocation } from '../options.js';

/** `jobq-dev stats`: counts, and the age of the oldest waiting job. */
export async function stats(command: Command): Promise<number> {
  const { config, output, flags } = readInvocation<{ estimate?: boolean }>(command);
  const connection = await connect(config, 'jobq-dev stats');
  try {
    const text = await ask(connection.send, 'GET', flags.estimate ? '/stats' : '/stats?exact=true');
    output.document(text);
    const { counts, due, estimated, oldest_waiting_ms, next_run_after, last_minute } = JSON.parse(
      text,
    ) as Omit<Stats, 'next_run_after'> & { next_run_after: string | null };
    const shown = (name: Status | 'due', count: number) =>
      estimated.includes(name) ? about(count) : String(count);
    output.line(STATUSES.map((status) => `${shown(status, counts[status])} ${status}`).join(', '));
    output.line(
      oldest_waiting_ms === null
        ? 'nothing is due'
        : `oldest waiting job: ${formatDuration(oldest_waiting_ms)} (${shown('due', due)} due)`,
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

/** An estimate, with no more digits than it is worth. */
function about(count: number): string {
  return count <= COUNTED ? `more than ${count}` : `about ${Number(count.toPrecision(2))}`;
}
