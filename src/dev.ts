/** The emulator: the world, with cron and ports, and the order in which it starts and stops. */
import type { Config } from './config.js';
import type { PgliteDatabase } from './db/pglite.js';
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
  const [world, { listen }, wire] = await Promise.all([
    opening,
    import('./api/listen.js'),
    import('./wire/listen.js'),
  ]);
  let postgres: Awaited<ReturnType<typeof wire.listen>> | undefined;
  try {
    const mayMove = options.mayMovePort && !config.portGiven;
    const server = await listen(world.service, {
      port: config.port,
      tries: mayMove ? PORTS_TRIED : 0,
      token: config.token,
    });
    const url = `http://127.0.0.1:${server.port}`;
    // A server of the user's own needs no port of ours.
    if (world.db.driver === 'pglite') {
      postgres = await wire.listen(world.db as PgliteDatabase, {
        port: config.pgPort,
        tries: options.mayMovePort && !config.pgPortGiven ? PORTS_TRIED : 0,
        limits: {
          statementMs: config.pgStatementTimeoutMs,
          idleInTransactionMs: config.pgIdleInTransactionMs,
        },
        warn: (message) => world.events.emit('warning', { message }),
        onWrite: () => world.emulation!.inserted(),
      });
    }
    await world.drainer();
    world.announce({ http: url, postgres: postgres?.url ?? `postgres://${world.db.location}` });
    world.emulation!.start();
    world.watch.history.start();
    // Once it has been said that all is ready. A failure is met by the requests.
    setImmediate(() => server.load().catch(() => {}));
    return {
      world,
      url,
      async stop({ graceMs }) {
        await world.emulation!.stop();
        await world.currentDrainer()?.stop({ graceMs });
        world.watch.close();
        await server.close();
        // Handlers may be clients of it, so it goes after them.
        await postgres?.close();
        await world.close();
      },
    };
  } catch (error) {
    await postgres?.close();
    await world.close();
    throw error;
  }
}
