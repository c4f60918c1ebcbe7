import type { Command } from 'commander';
import type { Send } from '../../../api/client.js';
import { connect } from '../../connect.js';
import { type Invocation, readInvocation } from '../../options.js';

/** Runs one request of a `jobs` command through the owner or a world of its own. */
export async function withJobs<Flags>(
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
