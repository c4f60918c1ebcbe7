/**
 * The fallback without a warden (no perl): jobq-dev starts the command itself, in a process group
 * of its own. At the end the group is killed and, on Linux, every process that carries the
 * attempt's token in its environment. A descendant that left the group and cleared its environment
 * gets away, memory is not watched, and a SIGKILL of jobq-dev leaves handlers running until the
 * next start finds them: that is why this is only the fallback, and why the provider says so.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:os';
import { endProcessesWithEnvironment, signalIfThere } from '../leftovers/processes.js';
import type { Launch, LaunchEnd, Launched, Sinks } from './launch.js';

/** The one variable that a handler sees here beyond its contract. */
const TOKEN = 'JOBQ_ATTEMPT_TOKEN';
/** How long a pipe that somebody else still holds is read after the end. */
const DRAIN_MS = 500;

export function launchDirectly(launch: Launch, sinks: Sinks): Launched {
  const token = randomUUID();
  const [program, ...args] = launch.argv;
  const child = spawn(program!, args, {
    cwd: launch.cwd,
    env: { ...launch.env, [TOKEN]: token },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.stdout.on('data', sinks.stdout);
  child.stderr.on('data', sinks.stderr);

  let killed = false;
  const killGroup = (): void => {
    if (child.pid !== undefined) signalIfThere(-child.pid, 'SIGKILL');
  };
  const ended = new Promise<LaunchEnd>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const name = error.code ?? '';
      const errno = (constants.errno as Record<string, number | undefined>)[name] ?? 0;
      resolve({ by: 'not-started', errno, message: error.message });
    });
    child.once('exit', async (code, signal) => {
      const closed = once(child, 'close');
      killGroup();
      if (process.platform === 'linux') await endProcessesWithEnvironment(`${TOKEN}=${token}\0`);
      await Promise.race([closed, new Promise((wake) => setTimeout(wake, DRAIN_MS).unref())]);
      child.stdout.destroy();
      child.stderr.destroy();
      if (killed && signal === 'SIGKILL') resolve({ by: 'kill' });
      else if (code !== null) resolve({ by: 'exit', code });
      else resolve({ by: 'signal', signal });
    });
  });
  return {
    ended,
    kill: () => {
      killed = true;
      killGroup();
    },
  };
}
