/** Finds and ends processes by their environment, the one mark that children inherit. Linux only. */
import { readdir, readFile } from 'node:fs/promises';

/** Pids whose environment has an entry that starts with `prefix`, e.g. `HOME=/somewhere/`. */
export async function processesWithEnvironment(prefix: string): Promise<number[]> {
  const wanted = Buffer.from(`\0${prefix}`);
  const names = await readdir('/proc').catch(() => []); // not Linux
  const pids = names.map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      // Unreadable: another user's, or it ended meanwhile. A zombie's is empty.
      const environment = await readFile(`/proc/${pid}/environ`).catch(() => Buffer.alloc(0));
      return Buffer.concat([Buffer.from('\0'), environment]).includes(wanted);
    }),
  );
  return pids.filter((_, index) => found[index]);
}

/**
 * Kills every process with such an entry until none is found; gives the pids that were killed.
 * Gives up after `rounds` looks (a process that is stuck in the kernel cannot be ended).
 */
export async function endProcessesWithEnvironment(prefix: string, rounds = 50): Promise<number[]> {
  const ended = new Set<number>();
  for (let round = 0; round < rounds; round++) {
    const pids = await processesWithEnvironment(prefix);
    if (pids.length === 0) break;
    // Stopped first: what is stopped cannot fork away from the kill.
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
      for (const pid of pids) signalIfThere(pid, signal);
    }
    for (const pid of pids) ended.add(pid);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return [...ended];
}

/** Sends a signal to a process, or with a negative pid to a group, that may be gone already. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
