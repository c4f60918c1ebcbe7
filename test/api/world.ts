import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createApp } from '#src/api/app.js';
import { Service } from '#src/api/service.js';
import type { ServiceOptions } from '#src/api/service-options.js';
import { Watch } from '#src/api/watch.js';
import { SystemClock } from '#src/clock.js';
import type { Database } from '#src/db/port.js';
import { Drainer } from '#src/drain/drainer.js';
import { Events } from '#src/events.js';
import { RETRY_POLICIES } from '#src/job/retry.js';
import { exited, FakeProvider } from '../support/fake-provider.js';
import { freshMemoryDatabase } from '../support/postgres.js';

const LEASE_MS = 1_800_000;

/** A service over a real database and a sandbox that only pretends, and its app. */
export interface ApiWorld {
  db: Database;
  app: Hono;
  clock: SystemClock;
  events: Events;
  provider: FakeProvider;
  handlersDir: string;
  watch: Watch;
  options: ServiceOptions;
}

/**
 * The world of a file of tests: one database, emptied before each test; everything else is new for
 * each. Handlers: `work.sh`.
 */
export function apiWorld(): ApiWorld {
  const world = {} as ApiWorld;
  beforeAll(async () => {
    world.db = await freshMemoryDatabase();
    world.handlersDir = mkdtempSync(path.join(tmpdir(), 'jobq-api-'));
    writeFileSync(path.join(world.handlersDir, 'work.sh'), '');
  });
  afterAll(async () => {
    await world.db.close();
    rmSync(world.handlersDir, { recursive: true });
  });
  beforeEach(async () => {
    const { db, handlersDir } = world;
    await db.exec('truncate jobs, job_attempts restart identity');
    const clock = new SystemClock();
    const events = new Events();
    const watch = new Watch({ db, clock, events });
    const provider = new FakeProvider();
    provider.answer = () => exited(0);
    const drainer = new Drainer({
      db,
      clock,
      events,
      provider: () => provider,
      attempt: {
        handlersDir,
        outputRoot: path.join(handlersDir, '.output'),
        interpreters: {},
        env: {},
        timeoutMs: 1_000,
        sandboxTtlMs: 1_000,
        memoryBytes: 1,
        outputLimitBytes: 1_000,
      },
      retryPolicy: RETRY_POLICIES.minutes,
      seed: 'test',
      leaseMs: LEASE_MS,
      batch: 20,
      concurrency: 2,
      patienceMs: 0,
    });
    const options: ServiceOptions = {
      db,
      clock,
      events,
      watch,
      drainer: async () => drainer,
      held: () => drainer.held,
      provider: () => provider,
      version: '0.0.0',
      schedule: { expression: '* * * * *', timezone: 'UTC' },
      handlersDir,
      outputRoot: path.join(handlersDir, '.output'),
      interpreters: {},
      concurrency: 2,
      timeoutMs: 1_000,
      leaseMs: LEASE_MS,
      alertAgeMs: 300_000,
      wake: false,
      addresses: () => ({}),
    };
    Object.assign(world, {
      clock,
      events,
      provider,
      watch,
      options,
      app: createApp(new Service(options)),
    });
  });
  return world;
}
