/** How a second command reaches the database: through its owner, or by itself. */
import { inProcess, type Open, openInProcess, type Send } from '../api/client.js';
import type { Config } from '../config.js';
import { openWorld } from '../open-world.js';
import type { World } from '../world.js';
import { toEmulator } from './emulator.js';
import { whenFree } from './when-free.js';

export interface Connection {
  send: Send;
  open: Open;
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
      const { url, pid } = owner;
      return { ...toEmulator({ url, pid }, config), world: undefined, close: async () => {} };
    }
    const world = await openWorld(config, { command, withCron: false });
    const { createApp } = await import('../api/app.js');
    const app = createApp(world.service);
    return {
      send: inProcess(app),
      open: openInProcess(app),
      emulator: undefined,
      world,
      close: () => world.close(),
    };
  });
}
