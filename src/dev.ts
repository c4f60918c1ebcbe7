/** The emulator: the world, with cron and ports, and the order in which it starts and stops. */
import { type ServerType, serve } from '@hono/node-server';
import { createApp } from './api/app.js';
import type { Config } from './config.js';
import { JobqError } from './errors.js';
import { openWorld, type World } from './world.js';

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

/**
 * Starts everything; ready when it resolves.
 * @throws JobqError `port-taken`, `directory-locked`, …; nothing is left running then.
 */
export async function startEmulator(config: Config, options: EmulatorOptions): Promise<Emulator> {
  const world = await openWorld(config, { command: options.command, withCron: true });
  try {
    const app = createApp(world.service);
    const { server, port } = await listen(app.fetch, config, options.mayMovePort);
    const url = `http://127.0.0.1:${port}`;
    await world.drainer();
    world.announce(url);
    world.cron!.start();
    return {
      world,
      url,
      async stop({ graceMs }) {
        world.cron!.stop();
        await world.currentDrainer()?.stop({ graceMs });
        await closeServer(server);
        await world.close();
      },
    };
  } catch (error) {
    await world.close();
    throw error;
  }
}

/** How many ports after the default one are tried. */
const PORTS_TRIED = 20;

type Fetch = Parameters<typeof serve>[0]['fetch'];

async function listen(
  fetch: Fetch,
  config: Config,
  mayMove: boolean,
): Promise<{ server: ServerType; port: number }> {
  const last = mayMove && !config.portGiven ? config.port + PORTS_TRIED : config.port;
  for (let port = config.port; ; port += 1) {
    try {
      return await listenOn(fetch, port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      if (port < last) continue;
      throw new JobqError(
        'port-taken',
        `port ${config.port} on 127.0.0.1 is taken by another program`,
        `See which: ss -ltnp 'sport = :${config.port}' (or lsof -i :${config.port}); or choose another: --port 0 takes any free one.`,
      );
    }
  }
}

function listenOn(fetch: Fetch, port: number): Promise<{ server: ServerType; port: number }> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname: '127.0.0.1', port }, (address) => {
      server.off('error', reject);
      resolve({ server, port: address.port });
    });
    server.once('error', reject);
  });
}

async function closeServer(server: ServerType): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
}
