/**
 * What every command that works on a database stands on, wired once: database, clock, drainer,
 * service. The emulator adds cron and ports to it (dev.ts).
 */
import path from 'node:path';
import { Service } from './api/service.js';
import type { Addresses } from './api/service-options.js';
import { Watch } from './api/watch.js';
import { SystemClock } from './clock.js';
import { syncClock } from './clock-sync.js';
import { type Config, requireHandlers } from './config.js';
import { migrate } from './db/migrate.js';
import type { Opened } from './db/open.js';
import type { Database } from './db/port.js';
import { watched } from './db/watched.js';
import { Drainer } from './drain/drainer.js';
import { Sandboxes } from './drain/sandboxes.js';
import { attemptSettings, drainSettings, makeProvider } from './drain-config.js';
import { type Emulation, makeEmulation } from './emulation.js';
import { Events } from './events.js';
import { announcePresence } from './presence.js';
import { type Reaped, reap } from './queue/reap.js';
import type { SandboxProvider } from './sandbox/port.js';
import { createSchedule } from './schedule.js';
import { VERSION } from './version.js';

/** How long a one-shot command keeps a result for a database that is away. */
const COMMAND_PATIENCE_MS = 15_000;

export interface World {
  db: Database;
  clock: SystemClock;
  events: Events;
  watch: Watch;
  service: Service;
  /** Made at the first use, with its sandbox provider. */
  drainer: () => Promise<Drainer>;
  /** The drainer, if one was made. */
  currentDrainer: () => Drainer | undefined;
  /** The provider, if a drainer was made. */
  provider: () => SandboxProvider | undefined;
  /** What makes it an emulator, where it is one. */
  emulation: Emulation | undefined;
  /**
   * What a killed owner of the directory had left running, as it is now. Asked of the database
   * already: whoever asks it for something else is answered later.
   */
  recovered: Promise<readonly Reaped[]>;
  /** Tells other commands where this process answers. */
  announce: (urls: Required<Addresses>) => void;
  /** Ends sandboxes, then the database, then the lock. Idempotent. */
  close: () => Promise<void>;
}

export interface WorldOptions {
  /** For the lock's entry: what other commands are told is running. */
  command: string;
  /** Whether ticks fire by themselves. */
  withCron: boolean;
}

/**
 * Makes the world on a database that may still be opening.
 * @throws JobqError `directory-locked`, `database-unreachable`, …; nothing is left open then.
 */
export async function makeWorld(
  config: Config,
  { withCron }: WorldOptions,
  opening: Promise<Opened>,
): Promise<World> {
  const events = new Events();
  const warn = (message: string) => events.emit('warning', { message });
  const sandboxes = new Sandboxes({
    make: (name = config.sandbox) => makeProvider({ ...config, sandbox: name }, warn),
    unused: async (provider) => current?.unused(provider),
  });
  // The emulator needs one for certain: it is made while the database opens. A failure is met where
  // the drainer is asked for.
  if (withCron) sandboxes.first().catch(() => {});
  const schedule = createSchedule(config.cron, config.timezone);
  const { db: opened, lock } = await opening.catch(async (error: unknown) => {
    await sandboxes.close();
    throw error;
  });
  const clock = new SystemClock();
  const db = watched(opened, (reachable, message) =>
    events.emit('database', { at: clock.now(), reachable, message }),
  );
  const watch = new Watch({ db, clock, events });
  const addresses: Addresses = {};
  const outputRoot = path.join(config.dataDir, 'output');
  let making: Promise<Drainer> | undefined;
  let current: Drainer | undefined;

  async function makeDrainer(): Promise<Drainer> {
    await sandboxes.first();
    current = new Drainer({
      ...drainSettings(config),
      db,
      clock,
      events,
      provider: () => sandboxes.current!,
      attempt: attemptSettings(config, outputRoot),
      beforeClaim: async () => requireHandlers(config),
      patienceMs: withCron ? config.leaseMs : COMMAND_PATIENCE_MS,
    });
    return current;
  }
  const drainer = () => {
    making ??= makeDrainer();
    return making;
  };

  try {
    await migrate(db);
    if (db.driver === 'postgres') await syncClock(db, clock);
  } catch (error) {
    await sandboxes.close();
    await db.close();
    lock?.release();
    throw error;
  }
  // Whoever holds the directory knows that no drainer is alive on it: what is still running there
  // was left by one that was killed, and need not wait for its lease.
  const recovered = lock === undefined ? Promise.resolve([]) : recover(db, clock);
  recovered.catch(() => {});

  const emulation = withCron
    ? makeEmulation(config, {
        db,
        isLocal: lock !== undefined,
        clock,
        events,
        schedule,
        drainer,
        currentDrainer: () => current,
        sandboxes,
        service: () => service,
      })
    : undefined;
  const service: Service = new Service({
    db,
    clock,
    events,
    watch,
    drainer,
    held: () => current?.held ?? [],
    provider: () => sandboxes.current,
    ...emulation,
    version: VERSION,
    schedule,
    handlersDir: config.handlers,
    outputRoot,
    interpreters: config.interpreters,
    concurrency: config.concurrency,
    timeoutMs: config.timeoutMs,
    leaseMs: config.leaseMs,
    alertAgeMs: config.alertAgeMs,
    wake: config.wake,
    addresses: () => addresses,
  });

  let withdraw = () => {};
  let closing: Promise<void> | undefined;
  return {
    db: opened,
    clock,
    events,
    watch,
    service,
    drainer,
    currentDrainer: () => current,
    provider: () => sandboxes.current,
    emulation,
    recovered,
    announce: (urls) => {
      Object.assign(addresses, urls);
      const { http: url, postgres } = urls;
      lock?.update({ url, postgres });
      withdraw = announcePresence(config.dataDir, { url, token: config.token });
    },
    close: () => {
      closing ??= (async () => {
        withdraw();
        await emulation?.stop();
        watch.close();
        await making?.catch(() => {});
        await current?.stop({ graceMs: 0 });
        await sandboxes.close();
        await db.close();
        lock?.release();
      })();
      return closing;
    },
  };
}

function recover(db: Database, clock: SystemClock): Promise<Reaped[]> {
  return reap(db, { now: clock.now(), leaseMs: 0, reason: 'its jobq-dev was killed' });
}
