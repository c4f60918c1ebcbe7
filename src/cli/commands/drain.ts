import type { Command } from 'commander';
import { ask } from '../../api/client.js';
import type { DrainCounts } from '../../events.js';
import { connect } from '../connect.js';
import { printEvents } from '../lines.js';
import { readInvocation } from '../options.js';
import { INTERRUPTED, onInterrupt } from '../signals.js';

/** `jobq-dev drain`: one tick against the database, then exit; what a cron job runs in production. */
export async function drain(command: Command): Promise<number> {
  const { config, output } = readInvocation(command);
  const connection = await connect(config, 'jobq-dev drain');
  const { world } = connection;
  // Also while the drainer is being made: it then claims nothing.
  const stop = async (graceMs: number) => (await world?.drainer())?.stop({ graceMs });
  const interrupt = onInterrupt(
    () => void stop(config.graceMs).catch(() => {}),
    () => void stop(0).catch(() => {}),
  );
  // The counts are the one document of --json; the lines are for people.
  const stopPrinting = world && !output.json ? printEvents(world.events, output) : undefined;
  try {
    const text = await ask(connection.send, 'POST', '/drain');
    await world?.db.maintain();
    output.document(text);
    const counts = JSON.parse(text) as DrainCounts;
    const told = stopPrinting !== undefined && !output.quiet && Object.values(counts).some(Boolean);
    if (!told) {
      output.line(
        `drained: ${Object.entries(counts)
          .map(([what, count]) => `${count} ${what}`)
          .join(', ')}`,
      );
    }
    if (interrupt.interrupted) return INTERRUPTED;
    return counts.dead > 0 ? 1 : 0;
  } finally {
    stopPrinting?.();
    await connection.close();
    interrupt.release();
  }
}
