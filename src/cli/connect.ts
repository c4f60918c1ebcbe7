/** How a second command reaches the database: through its owner, or by itself. */
import { createApp } from '../api/app.js';
import { inProcess, overHttp, type Send } from '../api/client.js';
import type { Config } from '../config.js';
import { openWorld } from '../open-world.js';
import type { World } from '../world.js';
import { whenFree } from './when-free.js';

export interface Connection {
  send: Send;
  /** The emulator that was found running, if one was. */
  emulator: { url: string; pid: number } | undefined;
  /** This process' own world, where there is no emulator. */
  world: World | undefined;
  close(): Promise<void>;
}

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
