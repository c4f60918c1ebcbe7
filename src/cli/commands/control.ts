/** Commands that steer the running emulator. */
import type { Command } from 'commander';
import { ask } from '../../api/client.js';
import type { Advanced, SandboxInUse } from '../../api/contract.js';
import { JobqError } from '../../errors.js';
import { formatDuration } from '../../job/duration.js';
import { connectToEmulator } from '../emulator.js';
import { readInvocation } from '../options.js';
import type { Output } from '../output.js';

/** Asks the emulator for one thing, and prints its answer. */
async function steer<Answer, Flags = object>(
  command: Command,
  request: (flags: Flags) => { path: string; body?: object },
  say: (answer: Answer, output: Output) => void,
): Promise<number> {
  const { config, output, flags } = readInvocation<Flags>(command);
  const { path, body } = request(flags);
  const text = await ask(connectToEmulator(config).send, 'POST', path, body);
  output.document(text);
  say(JSON.parse(text) as Answer, output);
  return 0;
}

/** `jobq-dev advance 5m | --to next-tick|next-retry|TIME` */
export function advance(by: string | undefined, command: Command): Promise<number> {
  return steer<Advanced, { to?: string }>(
    command,
    ({ to }) => {
      if ((by === undefined) === (to === undefined)) {
        throw new JobqError(
          'usage',
          by === undefined ? 'not said how far' : 'both a duration and --to are given',
          'jobq-dev advance 5m, or jobq-dev advance --to next-tick|next-retry|2026-05-01T12:00:00Z.',
        );
      }
      return { path: '/advance', body: { by, to } };
    },
    ({ now, offset_ms, ticks }, output) => {
      output.line(`the emulator's clock is at ${now}, ${formatDuration(offset_ms)} ahead`);
      output.line(ticks > 0 ? 'a tick fires now' : 'no tick of the schedule lies between');
    },
  );
}

/** `jobq-dev pause` */
export function pause(command: Command): Promise<number> {
  return steer(
    command,
    () => ({ path: '/pause' }),
    (_answer, output) =>
      output.line('the drainer is paused; jobq-dev drain runs a tick by hand, resume goes on'),
  );
}

/** `jobq-dev resume` */
export function resume(command: Command): Promise<number> {
  return steer(
    command,
    () => ({ path: '/resume' }),
    (_answer, output) => output.line('the drainer goes on with the next slot of its schedule'),
  );
}

/** `jobq-dev sandbox use NAME` */
export function useSandbox(provider: string, command: Command): Promise<number> {
  return steer<SandboxInUse>(
    command,
    () => ({ path: '/sandbox', body: { provider } }),
    ({ description }, output) =>
      output.line(`the next attempt runs in ${description}; what runs stays where it is`),
  );
}
