/**
 * The order of a start. The database is asked to open before anything else is loaded: its engine
 * starts in a thread of its own, and takes longer than loading the rest does.
 */
import type { Config } from './config.js';
import { type OpenOptions, openDatabase } from './db/open.js';
import type { World, WorldOptions } from './world.js';

/**
 * Opens the database (taking the lock of a local one), migrates it, and makes the world on it.
 * @throws JobqError `directory-locked`, `database-unreachable`, …; nothing is left open then.
 */
export async function openWorld(config: Config, options: WorldOptions): Promise<World> {
  const opening = openDatabase(databaseOptions(config, options.command));
  // A failure is met in makeWorld.
  opening.catch(() => {});
  const { makeWorld } = await import('./world.js');
  return makeWorld(config, options, opening);
}

/** The database that a configuration names, for `openDatabase`. */
export function databaseOptions(config: Config, command: string): OpenOptions {
  return {
    command,
    memory: config.memory,
    dataDir: config.dataDir,
    // A heartbeat that is answered later than this may come too late for its lease.
    answerTimeoutMs: config.leaseMs / 3,
    ...(config.databaseUrl === undefined ? {} : { databaseUrl: config.databaseUrl }),
  };
}
