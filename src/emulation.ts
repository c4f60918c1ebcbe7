/**
 * What makes a world an emulator: ticks by a schedule, what steers it, inserts that wake it, and
 * the metrics of what it does.
 */
import path from 'node:path';
import type { Examples } from './api/contract.js';
import { Control } from './api/control.js';
import { Metrics } from './api/metrics/metrics.js';
import type { Service } from './api/service.js';
import type { SystemClock } from './clock.js';
import { syncClock } from './clock-sync.js';
import type { Config } from './config.js';
import type { Database } from './db/port.js';
import { Cron } from './drain/cron.js';
import type { Drainer } from './drain/drainer.js';
import type { Sandboxes } from './drain/sandboxes.js';
import { Wake, watchInserts } from './drain/wake.js';
import { JobqError } from './errors.js';
import type { Events, TickCause } from './events.js';
import { copyHandlers } from './examples.js';
import { LiveReplays } from './live-replays.js';
import { anyDue } from './queue/any-due.js';
import type { Schedule } from './schedule.js';

const PRUNE_EVERY_MS = 3_600_000;

/** The world that is emulated in. */
interface Surroundings {
  db: Database;
  /** Whether the database lies in the data directory. */
  isLocal: boolean;
  clock: SystemClock;
  events: Events;
  schedule: Schedule;
  drainer: () => Promise<Drainer>;
  /** The drainer, if one was made. */
  currentDrainer: () => Drainer | undefined;
  sandboxes: Sandboxes;
  service: () => Service;
}

export interface Emulation {
  cron: Cron;
  control: Control;
  metrics: Metrics;
  /** Lets the ticks fire. */
  start(): void;
  /**
   * Rows may have been inserted by others than the API: with `--wake` they are picked up at once,
   * else they wait for the next tick.
   */
  inserted(): void;
  /** No tick fires, and nothing is played, any more. Idempotent. */
  stop(): Promise<void>;
}

export function makeEmulation(config: Config, world: Surroundings): Emulation {
  const { db, clock, events, schedule, sandboxes, service } = world;
  const onTick = ticking(config, world, () => control.paused);
  const cron = new Cron(clock, schedule, (cause, lateMs) => void onTick(cause, lateMs));
  const replays = new LiveReplays(service, events);
  const control = new Control({
    db,
    clock,
    events,
    cron,
    drainer: world.currentDrainer,
    allowTimeTravel: config.allowTimeTravel,
    useSandbox: (name) => sandboxes.use(name),
    replay: (file, speed) => replays.start(file, speed),
    copyExamples: () => copyExamples(config.handlers),
  });
  const metrics = new Metrics({
    db,
    events,
    stats: () => service().stats(),
    info: () => service().info(),
    running: () => world.currentDrainer()?.held.length ?? 0,
  });
  const wake = new Wake({
    drainer: world.currentDrainer,
    tick: () => onTick('insert'),
    paused: () => control.paused,
  });
  const inserted = config.wake ? () => wake.inserted() : () => {};
  events.on('enqueued', inserted).on('changed', inserted);
  let stopWatching = () => {};

  return {
    cron,
    control,
    metrics,
    start() {
      cron.start();
      if (config.wake && db.driver === 'postgres') {
        stopWatching = watchInserts(clock, () => anyDue(db, { now: clock.now() }), inserted);
      }
    },
    inserted,
    async stop() {
      cron.stop();
      stopWatching();
      events.off('enqueued', inserted).off('changed', inserted);
      await replays.stop();
    },
  };
}

/** What a tick of the schedule does besides the drainer's part, and what is told when it fails. */
function ticking(
  config: Config,
  { db, isLocal, clock, events, drainer, service }: Surroundings,
  isPaused: () => boolean,
): (cause: TickCause, lateMs?: number) => Promise<void> {
  let prunedAt = Number.NEGATIVE_INFINITY;
  /** A local database is kept small; a shared one is its owner's business. */
  async function housekeeping(): Promise<void> {
    if (clock.now().getTime() - prunedAt < PRUNE_EVERY_MS) return;
    prunedAt = clock.now().getTime();
    await service().prune(config.keep);
  }
  return async (cause, lateMs) => {
    try {
      if (db.driver === 'postgres') await syncClock(db, clock);
      if (isPaused()) return;
      await (await drainer()).tick(cause, lateMs);
      if (isLocal) await housekeeping();
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
  };
}

/** The example handlers, for a project that has none. */
async function copyExamples(handlersDir: string): Promise<Examples> {
  const created: string[] = [];
  await copyHandlers(handlersDir, (file, isNew) => {
    if (isNew) created.push(path.relative(handlersDir, file));
  });
  return { dir: handlersDir, created };
}
