/** Removes cgroups that warden.pl made (see cgroup.pl) and could not remove itself. */
import { readdir, readFile, rmdir, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { signalIfThere } from './processes.js';

/** What statfs(2) says of cgroup file systems, versions 1 and 2: nothing else is touched. */
const CGROUP_TYPES = [0x27e0eb, 0x63677270];
const ROUNDS = 50;

/**
 * Ends what runs in the cgroups whose paths begin with `base` and `-`, and removes them; gives the
 * pids that were killed.
 * @throws Error when one stays.
 */
export async function removeCgroups(base: string): Promise<number[]> {
  const type = await statfs(dirname(base))
    .then((stats) => stats.type)
    .catch(() => 0); // gone
  if (!CGROUP_TYPES.includes(type)) return [];
  const ended = new Set<number>();
  for (const name of await readdir(dirname(base))) {
    if (name.startsWith(`${basename(base)}-`)) await remove(join(dirname(base), name), ended);
  }
  return [...ended];
}

async function remove(cgroup: string, ended: Set<number>): Promise<void> {
  const entries = await readdir(cgroup, { withFileTypes: true }).catch(() => []); // gone
  for (const entry of entries) {
    if (entry.isDirectory()) await remove(join(cgroup, entry.name), ended);
  }
  for (let round = 1; ; round++) {
    try {
      return await rmdir(cgroup);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY' || round === ROUNDS) throw error;
    }
    const text = await readFile(join(cgroup, 'cgroup.procs'), 'utf8').catch(() => '');
    // 0 is a process that has no pid here.
    for (const pid of text
      .split('\n')
      .map(Number)
      .filter((each) => each > 0)) {
      signalIfThere(pid, 'SIGKILL');
      ended.add(pid);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
