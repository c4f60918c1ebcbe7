import type { Command } from 'commander';
import { ask, openText, readJob } from '../../../api/client.js';
import { describeAttempt } from '../../../job/describe-attempt.js';
import { visibleLines } from '../../../job/text.js';
import { connectToEmulator } from '../../emulator.js';
import { readInvocation } from '../../options.js';
import { INTERRUPTED, onInterrupt } from '../../signals.js';
import { parseCount } from '../../when.js';
import { withJobs } from './request.js';

interface LogsFlags {
  attempt?: string;
  follow?: boolean;
}

/** `jobq-dev jobs logs ID`: what the attempts wrote. */
export function logs(id: string, command: Command): Promise<number> {
  if (command.opts<LogsFlags>().follow) return follow(id, command);
  return withJobs<LogsFlags>(command, async (send, { output, flags }) => {
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

/** As it is written, until the job is done or dead. */
async function follow(id: string, command: Command): Promise<number> {
  const { config, output, flags } = readInvocation<LogsFlags>(command);
  const { open } = connectToEmulator(config);
  const interrupt = onInterrupt(() => {});
  const query = new URLSearchParams({
    follow: 'true',
    ...(flags.attempt && { attempt: String(parseCount(flags.attempt, '--attempt', 1)) }),
  });
  const path = `/jobs/${encodeURIComponent(id)}/logs?${query}`;
  try {
    const body = await openText(open, path, { signal: interrupt.signal });
    for await (const line of lines(body)) {
      output.line(visibleLines(line));
      output.document({ line });
    }
  } catch (error) {
    if (!interrupt.interrupted) throw error;
  } finally {
    interrupt.release();
  }
  return interrupt.interrupted ? INTERRUPTED : 0;
}

async function* lines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of text) {
    const whole = (rest + piece).split('\n');
    rest = whole.pop()!;
    yield* whole;
  }
  if (rest !== '') yield rest;
}
