/**
 * What every command that works on a database stands on, wired once: database, clock, drainer,
 * service. The emulator adds cron and ports to it (dev.ts).
 */
import path from 'node:path';
import { Service } from './api/service.js';
import { SystemClock } from './clock.js';
import { type Config, requireHandlers } from './config.js';
import { migrate } from './db/migrate.js';
import type { Opened } from './db/open.js';
import type { Database } from './db/port.js';
import { watched } from './db/watched.js';
import type { AttemptSettings } from './drain/attempt.js';
import { Cron } from './drain/cron.js';
import { Drainer } from './drain/drainer.js';
import { JobqError } from './errors.js';
import { Events, type TickCause } from './events.js';
import { RETRY_POLICIES } from './job/retry.js';
import { type Reaped, reap } from './queue/reap.js';
import { createProvider } from './sandbox/create.js';
import type { SandboxProvider } from './sandbox/port.js';
import { cleanLeftovers } from './sandbox/process/index.js';
import { createSchedule } from './schedule.js';
import { VERSION } from './version.js';

/** How long a one-shot command keeps a result for a database that is away. */
const COMMAND_PATIENCE_MS = 15_000;
const PRUNE_EVERY_MS = 3_600_000;

export interface World {
  db: Database;
  clock: SystemClock;
  events: Events;
  service: Service;
  /** Made at the first use, with its sandbox provider. */
  drainer: () => Promise<Drainer>;
  /** The drainer, if one was made. */
  currentDrainer: () => Drainer | undefined;
  /** The provider, if a drainer was made. */
  provider: () => SandboxProvider | undefined;
  cron: Cron | undefined;
  /**
   * What a killed owner of the directory had left running, as it is now. Asked of the database
   * already: whoever asks it for something else is answered later.
   */
  recovered: Promise<readonly Reaped[]>;
  /** Tells other commands where this process answers. */
  announce: (url: string) => void;
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
  const newProvider = () => makeProvider(config, (message) => events.emit('warning', { message }));
  // The emulator needs one for certain: it is made while the database opens. A failure is met where
  // the drainer is asked for.
  const early = withCron ? newProvider() : undefined;
  const closeEarly = async () => (await early?.catch(() => undefined))?.close();
  const schedule = createSchedule(config.cron, config.timezone);
  const { db: opened, lock } = await opening.catch(async (error: unknown) => {
    await closeEarly();
    throw error;
  });
  const clock = new SystemClock();
  const db = watched(opened, (reachable, message) =>
    events.emit('database', { at: clock.now(), reachable, message }),
  );
  const outputRoot = path.join(config.dataDir, 'output');
  let making: Promise<Drainer> | undefined;
  let provider: SandboxProvider | undefined;
  let current: Drainer | undefined;

  async function makeDrainer(): Promise<Drainer> {
    provider = await (early ?? newProvider());
    current = new Drainer({
      ...drainSettings(config),
      db,
      clock,
      events,
      provider: () => provider!,
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
    await closeEarly();
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

  const service = new Service({
    db,
    clock,
    events,
    drainer,
    provider: () => provider,
    ...(cron === undefined ? {} : { cron }),
    version: VERSION,
    schedule,
    handlersDir: config.handlers,
    outputRoot,
    interpreters: config.interpreters,
    concurrency: config.concurrency,
    leaseMs: config.leaseMs,
  });

  let closing: Promise<void> | undefined;
  return {
    db: opened,
    clock,
    events,
    service,
    drainer,
    currentDrainer: () => current,
    provider: () => provider,
    cron,
    recovered,
    announce: (url) => lock?.update({ url }),
    close: () => {
      closing ??= (async () => {
        cron?.stop();
        await making?.catch(() => {});
        await current?.stop({ graceMs: 0 });
        await closeEarly();
        await provider?.close();
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

/**
 * The sandbox provider of a configuration; first ends what an earlier crash has left.
 * @param warn is told what was asked for and is not enforced here.
 * @throws JobqError `sandbox-unavailable`, under `strict` also for such a shortfall.
 */
export async function makeProvider(
  config: Config,
  warn: (message: string) => void,
): Promise<SandboxProvider> {
  const journalDir = path.join(config.dataDir, 'journal');
  await cleanLeftovers(journalDir);
  const provider = await createProvider({
    name: config.sandbox,
    workDir: path.join(config.dataDir, 'work'),
    journalDir,
    namespaces: config.namespaces,
  });
  const [shortfall] = shortfalls(config, provider);
  if (shortfall === undefined) return provider;
  if (!config.strict) {
    warn(shortfall);
    return provider;
  }
  await provider.close();
  throw new JobqError(
    'sandbox-unavailable',
    shortfall,
    'Leave out "strict" to go on all the same; jobq-dev doctor says what would help.',
  );
}

/** What was asked for and is not enforced. */
function shortfalls(config: Config, { name, enforces }: SandboxProvider): string[] {
  return [
    ...(config.namespaces === 'auto' && enforces.isolation === 'none'
      ? [
          `namespaces were asked for, and the sandbox provider "${name}" runs without isolation here`,
        ]
      : []),
    ...(enforces.memory === 'none'
      ? [`the memory limit is not enforced by the sandbox provider "${name}" here`]
      : []),
  ];
}

/** What the drainer takes from the configuration. */
export function drainSettings(config: Config) {
  return {
    retryPolicy: RETRY_POLICIES[config.retry],
    seed: config.seed,
    leaseMs: config.leaseMs,
    batch: config.batch,
    concurrency: config.concurrency,
  };
}

/** What every attempt takes from the configuration. */
export function attemptSettings(config: Config, outputRoot: string): AttemptSettings {
  return {
    handlersDir: config.handlers,
    outputRoot,
    interpreters: config.interpreters,
    env: config.env,
    timeoutMs: config.timeoutMs,
    sandboxTtlMs: config.sandboxTtlMs,
    memoryBytes: config.memoryBytes,
    outputLimitBytes: config.outputLimitBytes,
  };
}
