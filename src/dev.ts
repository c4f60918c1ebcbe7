/** The emulator: the world, with cron and ports, and the order in which it starts and stops. */
import type { Config } from './config.js';
import { openWorld } from './open-world.js';
import type { World } from './world.js';

export interface Emulator {
  world: World;
  /** Where the HTTP API answers. */
  url: string;
  /**
   * Stops claiming, lets running jobs finish for the grace, then kills and gives back the rest,
   * and closes everything. A second call shortens the grace.
   */
  stop(options: { graceMs: number }): Promise<void>;
}

export interface EmulatorOptions {
  command: string;
  /** Whether a taken default port may be replaced by the next free one. */
  mayMovePort: boolean;
}

/** How many ports after the default one are tried. */
const PORTS_TRIED = 20;

/**
 * Starts everything; ready when it resolves.
 * @throws JobqError `port-taken`, `directory-locked`, …; nothing is left running then.
 */
export async function startEmulator(config: Config, options: EmulatorOptions): Promise<Emulator> {
  const opening = openWorld(config, { command: options.command, withCron: true });
  // Loaded while the database opens.
  const [world, { listen }] = await Promise.all([opening, import('./api/listen.js')]);
  try {
    const mayMove = options.mayMovePort && !config.portGiven;
    const server = await listen(world.service, {
      port: config.port,
      tries: mayMove ? PORTS_TRIED : 0,
      token: config.token,
    });
    const url = `http://127.0.0.1:${server.port}`;
    await world.drainer();
    world.announce(url);
    world.emulation!.start();
    world.watch.history.start();
    return {
      world,
      url,
      async stop({ graceMs }) {
        await world.emulation!.stop();
        await world.currentDrainer()?.stop({ graceMs });
        world.watch.close();
        await server.close();
        await world.close();
      },
    };
  } catch (error) {
    await world.close();
    throw error;
  }
}
