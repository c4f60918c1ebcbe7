// @ts-check
/** What is done to processes: those of jobq-dev, and those that they start. */
import { setTimeout as delay } from 'node:timers/promises';
import { busyOwners, handlersOf, signal, wardensOf } from './alive.mjs';
import { readRuns } from './handlers.mjs';

/** @typedef {import('./processes.mjs').Process} Process */

/** How long who is stopped waits for somebody else to begin what it was at, after its lease. */
const NEXT_WITHIN_MS = 8_000;

/**
 * @param {import('./arena.mjs').Arena} arena
 * @param {import('../support/random.mjs').Random} random
 * @returns {Record<string, import('./trouble.mjs').Way>}
 */
export function processTroubles({ root, drainers, shared, localEmulator, local, leaseMs }, random) {
  /** @param {readonly Process[]} among @param {'SIGKILL' | 'SIGTERM'} how */
  async function end(among, how) {
    const hit = random.pick(among.filter(({ free }) => free));
    hit?.end(how);
    return hit === undefined ? 0 : 1;
  }

  /**
   * One with a handler that may end meanwhile: nobody is late without one.
   * @param {readonly Process[]} among @param {typeof shared} site
   * @param {(jobs: readonly string[]) => Promise<void>} over resolves when it is to go on
   */
  async function stop(among, site, over) {
    const busy = busyOwners(root, site);
    const hit = random.pick(among.filter(({ free, pid }) => free && busy.has(pid ?? 0)));
    await hit?.freeze(over(busy.get(hit.pid ?? 0) ?? []));
    return hit === undefined ? 0 : 1;
  }

  /**
   * After the lease, and while the next attempt of one of the jobs runs, where one begins: who comes
   * back then is late. @param {readonly string[]} jobs
   */
  async function whileTheNextRuns(jobs) {
    const runs = () => readRuns(shared.effects).filter(({ job }) => jobs.includes(job)).length;
    const before = runs();
    await delay(leaseMs + 500);
    const until = performance.now() + NEXT_WITHIN_MS;
    while (runs() === before && performance.now() < until) await delay(50);
    await delay(random.between(0, 1_500));
  }

  const afterTheLease = () => delay(leaseMs + random.between(500, 4_000));

  /** @param {{ effects: string }} site @param {NodeJS.Signals} how */
  async function signalHandler(site, how) {
    const hit = random.pick(handlersOf(root, site));
    return hit !== undefined && signal(hit.pid, how) ? 1 : 0;
  }

  async function stopHandler() {
    const hit = random.pick(handlersOf(root, shared));
    if (hit === undefined || !signal(hit.pid, 'SIGSTOP')) return 0;
    await delay(random.between(500, 3_000));
    signal(hit.pid, 'SIGCONT');
    return 1;
  }

  async function killWarden() {
    const hit = random.pick(wardensOf(root, shared));
    return hit !== undefined && signal(hit.pid, 'SIGKILL') ? 1 : 0;
  }

  return {
    'drainers killed': { weight: 4, hit: () => end(drainers, 'SIGKILL') },
    'drainers terminated': { weight: 4, hit: () => end(drainers, 'SIGTERM') },
    'drainers stopped for longer than the lease': {
      weight: 4,
      hit: () => stop(drainers, shared, whileTheNextRuns),
    },
    'handlers killed': { weight: 4, hit: () => signalHandler(shared, 'SIGKILL') },
    'handlers terminated': { weight: 2, hit: () => signalHandler(shared, 'SIGTERM') },
    'handlers stopped for a while': { weight: 2, hit: stopHandler },
    'wardens killed': { weight: 1, hit: killWarden },
    'local emulators killed': { weight: 2, hit: () => end([localEmulator], 'SIGKILL') },
    'local emulators terminated': { weight: 2, hit: () => end([localEmulator], 'SIGTERM') },
    'local emulators stopped for longer than the lease': {
      weight: 1,
      hit: () => stop([localEmulator], local, afterTheLease),
    },
    'local handlers killed': { weight: 2, hit: () => signalHandler(local, 'SIGKILL') },
  };
}
