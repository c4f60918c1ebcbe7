/** A data directory has one owner at a time: how a command waits for its turn. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.js';
import { type OwnerInfo, readOwner } from '../db/lock.js';
import { JobqError } from '../errors.js';

/** Another command that holds the directory is waited for this long. */
const WAIT_FOR_OWNER_MS = 30_000;
const LOOK_EVERY_MS = 50;

/**
 * Tries `work` again while a short command (an owner without a URL) holds the data directory.
 * @param work is given the live owner, if there is one.
 */
export async function whenFree<T>(
  config: Config,
  work: (owner: OwnerInfo | undefined) => Promise<T>,
): Promise<T> {
  const until = performance.now() + WAIT_FOR_OWNER_MS;
  for (;;) {
    const owner = isLocal(config) ? await readOwner(config.dataDir) : undefined;
    try {
      return await work(owner);
    } catch (error) {
      const locked = error instanceof JobqError && error.code === 'directory-locked';
      if (!locked || owner?.url !== undefined || performance.now() > until) throw error;
      await delay(LOOK_EVERY_MS);
    }
  }
}

function isLocal(config: Config): boolean {
  return !config.memory && config.databaseUrl === undefined;
}
