/** How a second command reaches the database: through its owner, or by itself. */
import { setTimeout as delay } from 'node:timers/promises';
import { createApp } from '../api/app.js';
import { inProcess, overHttp, type Send } from '../api/client.js';
import type { Config } from '../config.js';
import { type OwnerInfo, readOwner } from '../db/lock.js';
import { JobqError } from '../errors.js';
import { openWorld, type World } from '../world.js';

export interface Connection {
  send: Send;
  /** The emulator that was found running, if one was. */
  emulator: { url: string; pid: number } | undefined;
  /** This process' own world, where there is no emulator. */
  world: World | undefined;
  close(): Promise<void>;
}

/** Another command that holds the directory is waited for this long. */
const WAIT_FOR_OWNER_MS = 15_000;
const LOOK_EVERY_MS = 50;

/**
 * Finds the running emulator of the data directory and goes through it; without one, opens the
 * database here.
 * @throws JobqError `directory-locked` when another command holds it for long, or another host.
 */
export async function connect(config: Config, command: string): Promise<Connection> {
  return whenFree(config, async (owner) => {
    if (owner?.url !== undefined) {
      const emulator = { url: owner.url, pid: owner.pid };
      return { send: overHttp(owner.url), emulator, world: undefined, close: async () => {} };
    }
    const world = await openWorld(config, { command, withCron: false });
    return {
      send: inProcess(createApp(world.service)),
      emulator: undefined,
      world,
      close: () => world.close(),
    };
  });
}

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
