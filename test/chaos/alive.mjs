// @ts-check
/** Which processes of a run are alive: they carry its folder in their environment. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** @typedef {{ pid: number, command: string, environment: string }} Alive */

/** @param {string} root @returns {Alive[]} */
export function processesOf(root) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    if (Number(name) === process.pid) return [];
    const environment = read(`/proc/${name}/environ`);
    const command = read(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim();
    const ours = environment.includes(root) || command.includes(root);
    // Without a command it is a zombie: it runs no more.
    return ours && command !== '' ? [{ pid: Number(name), command, environment }] : [];
  });
}

/** @param {string} root @param {{ effects: string }} site */
export function handlersOf(root, { effects }) {
  return processesOf(root).filter(
    ({ environment, command }) =>
      environment.includes(`CHAOS_EFFECTS=${effects}\0`) && /^\S*\bsh \S+\.sh /.test(command),
  );
}

/**
 * Which of a site's jobq-dev processes have handlers running, by pid, and for which jobs.
 * @param {string} root @param {{ effects: string, dataDir: string }} site
 */
export function busyOwners(root, site) {
  const workspace = new RegExp(`HOME=${path.join(site.dataDir, 'work')}/(\\d+)-`);
  /** @type {Map<number, string[]>} */
  const owners = new Map();
  for (const { environment } of handlersOf(root, site)) {
    const owner = Number(workspace.exec(environment)?.[1]);
    const job = /JOBQ_JOB_ID=(\d+)\0/.exec(environment)?.[1] ?? '';
    owners.set(owner, [...(owners.get(owner) ?? []), job]);
  }
  return owners;
}

/** @param {string} root @param {{ dataDir: string }} site */
export function wardensOf(root, { dataDir }) {
  const work = path.join(dataDir, 'work');
  return processesOf(root).filter(
    ({ environment, command }) =>
      environment.includes(`HOME=${work}`) && /perl \S*warden\.pl/.test(command),
  );
}

/** @param {number} pid @param {NodeJS.Signals} signal @returns {boolean} whether it was there */
export function signal(pid, signal) {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
    return false;
  }
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // it has ended, or is not ours to look at
  }
}
