/**
 * What every command that works on a database stands on, wired once: database, clock, drainer,
 * service. The emulator adds cron and ports to it (dev.ts).
 */
import path from 'node:path';
import type { Examples } from './api/contract.js';
import { Control } from './api/control.js';
import { type Addresses, Service } from './api/service.js';
import { Watch } from './api/watch.js';
import { SystemClock } from './clock.js';
import { type Config, requireHandlers } from './config.js';
import { migrate } from './db/migrate.js';
import type { Opened } from './db/open.js';
import type { Database } from './db/port.js';
import { watched } from './db/watched.js';
import { Cron } from './drain/cron.js';
import { Drainer } from './drain/drainer.js';
import { Sandboxes } from './drain/sandboxes.js';
import { attemptSettings, drainSettings, makeProvider } from './drain-config.js';
import { JobqError } from './errors.js';
import { Events, type TickCause } from './events.js';
import { copyHandlers } from './examples.js';
import { LiveReplays } from './live-replays.js';
import { announcePresence } from './presence.js';
import { type Reaped, reap } from './queue/reap.js';
import type { SandboxProvider } from './sandbox/port.js';
import { createSchedule } from './schedule.js';
import { VERSION } from './version.js';

/** How long a one-shot command keeps a result for a database that is away. */
const COMMAND_PATIENCE_MS = 15_000;
const PRUNE_EVERY_MS = 3_600_000;

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
  cron: Cron | undefined;
  replays: LiveReplays;
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

  const cron = withCron ? new Cron(clock, schedule, (cause) => void onTick(cause)) : undefined;
  async function onTick(cause: TickCause): Promise<void> {
    try {
      if (db.driver === 'postgres') await syncClock(db, clock);
      if (service.control.paused) return;
      await (await drainer()).tick(cause);
      if (lock !== undefined) await housekeeping();
      await db.maintain();
    } catch (error) {
      const code = error instanceof JobqError ? error.code : undefined;
      // It was told when it went away; the next tick tries again.
      if (code === 'database-unreachable') return;
      const { message } = error as Error;
      events.emit('warning', {
        message:
          code === 'config'
            ? `${message}; nothing is claimed until it does`
            : `a tick failed: ${message}`,
      });
    }
  }

  let prunedAt = Number.NEGATIVE_INFINITY;
  /** A local database is kept small; a shared one is its owner's business. */
  async function housekeeping(): Promise<void> {
    if (clock.now().getTime() - prunedAt < PRUNE_EVERY_MS) return;
    prunedAt = clock.now().getTime();
    await service.prune(config.keep);
  }

  const replays = new LiveReplays(() => service, events);
  const makeControl = (cron: Cron) =>
    new Control({
      db,
      clock,
      events,
      cron,
      drainer: () => current,
      allowTimeTravel: config.allowTimeTravel,
      useSandbox: (name) => sandboxes.use(name),
      replay: (file, speed) => replays.start(file, speed),
      copyExamples: () => copyExamples(config.handlers),
    });
  const service: Service = new Service({
    db,
    clock,
    events,
    watch,
    drainer,
    held: () => current?.held ?? [],
    provider: () => sandboxes.current,
    ...(cron === undefined ? {} : { cron, control: makeControl(cron) }),
    version: VERSION,
    schedule,
    handlersDir: config.handlers,
    outputRoot,
    interpreters: config.interpreters,
    concurrency: config.concurrency,
    timeoutMs: config.timeoutMs,
    leaseMs: config.leaseMs,
    alertAgeMs: config.alertAgeMs,
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
    cron,
    replays,
    recovered,
    announce: (urls) => {
      Object.assign(addresses, urls);
      const { http: url, postgres } = urls;
      lock?.update({ url, postgres });
      withdraw = announcePresence(config.dataDir, { url, token: config.token });
    },
    close: () => {
      closing ??= (async () => {
        cron?.stop();
        withdraw();
        await replays.stop();
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

/** The example handlers for a project that has none. */
async function copyExamples(handlersDir: string): Promise<Examples> {
  const created: string[] = [];
  await copyHandlers(handlersDir, (file, isNew) => {
    if (isNew) created.push(path.relative(handlersDir, file));
  });
  return { dir: handlersDir, created };
}

function recover(db: Database, clock: SystemClock): Promise<Reaped[]> {
  return reap(db, { now: clock.now(), leaseMs: 0, reason: 'its jobq-dev was killed' });
}

/** An answer that took longer says little about when it was given. */
const SHARP_MS = 100;
const CLOCK_LOOKS = 3;

/** The database's time, so that several machines that share it agree. */
async function syncClock(db: Database, clock: SystemClock): Promise<void> {
  let best = { tookMs: Number.POSITIVE_INFINITY, now: new Date(), at: new Date() };
  for (let look = 0; look < CLOCK_LOOKS && best.tookMs > SHARP_MS; look += 1) {
    const before = Date.now();
    const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
    const tookMs = Date.now() - before;
    const at = new Date(before + tookMs / 2);
    if (tookMs < best.tookMs) best = { tookMs, now: rows[0]!.now, at };
  }
  clock.sync(best.now, best.at);
}
