import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '#src/clock.js';
import type { Database } from '#src/db/port.js';
import { Drainer, type DrainerOptions } from '#src/drain/drainer.js';
import { JobqError } from '#src/errors.js';
import { Events } from '#src/events.js';
import { RETRY_POLICIES } from '#src/job/retry.js';
import { cancel } from '#src/queue/cancel.js';
import { CLAIM_SQL, claim } from '#src/queue/claim.js';
import { enqueue, type NewJob } from '#src/queue/enqueue.js';
import { findJob } from '#src/queue/find.js';
import { showJob } from '#src/queue/inspect.js';
import { listJobs } from '#src/queue/list.js';
import { reap } from '#src/queue/reap.js';
import { exited, FakeProvider } from '../support/fake-provider.js';
import { freshMemoryDatabase } from '../support/postgres.js';

const START = new Date('2026-05-01T12:00:00Z');
const LEASE_MS = 1_800_000;

describe('the drainer', () => {
  let db: Database;
  let dir: string;
  let clock: VirtualClock;
  let events: Events;
  let provider: FakeProvider;

  beforeAll(async () => {
    db = await freshMemoryDatabase();
    dir = mkdtempSync(path.join(tmpdir(), 'jobq-drainer-'));
    for (const kind of ['work', 'other']) writeFileSync(path.join(dir, `${kind}.sh`), '');
  });
  afterAll(async () => {
    await db.close();
    rmSync(dir, { recursive: true });
  });
  beforeEach(async () => {
    await db.exec('truncate jobs, job_attempts restart identity');
    clock = new VirtualClock(START);
    events = new Events();
    provider = new FakeProvider();
  });

  const makeDrainer = (more: Partial<DrainerOptions> = {}) =>
    new Drainer({
      db,
      clock,
      events,
      provider: () => provider,
      attempt: {
        handlersDir: dir,
        outputRoot: path.join(dir, 'output'),
        interpreters: {},
        env: { FROM_CONFIG: 'yes' },
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
      ...more,
    });

  const insert = (...jobs: Partial<NewJob>[]) =>
    enqueue(db, {
      jobs: jobs.map((job) => ({ kind: 'work', payload: '{}', ...job })),
      now: clock.now(),
    });
  const statuses = async () =>
    (await listJobs(db, { limit: 100 })).jobs.map(({ status }) => status).reverse();
  /** Resolves once the job is in that state. */
  const settled = async (id: string, status: string) => {
    await expect.poll(async () => (await findJob(db, id)).status).toBe(status);
  };
  const endAll = (code = 0) => {
    for (const run of provider.running) run.end(exited(code));
  };

  it('claims, runs and settles until nothing is due', async () => {
    provider.answer = (run) => exited(run.label === 'job 2' ? 1 : 0, 'no luck');
    await insert({}, {}, {}, { runAfter: new Date(START.getTime() + 1) }, { maxAttempts: 1 });
    const counts = await makeDrainer().tick('schedule');
    expect(counts).toEqual({ claimed: 4, done: 3, retried: 1, dead: 0, reaped: 0 });
    expect(await statuses()).toEqual(['done', 'pending', 'done', 'pending', 'done']);
    expect(await findJob(db, '2')).toMatchObject({ last_error: 'no luck', attempts: 1 });
  });

  it('gives the handler the contract: payload, and its environment', async () => {
    provider.answer = () => exited(0);
    await insert({ payload: '{"id":1970670598291982290}', maxAttempts: 7 });
    await makeDrainer().tick('schedule');
    expect(provider.runs[0]).toMatchObject({
      payload: '{"id": 1970670598291982290}',
      env: {
        FROM_CONFIG: 'yes',
        JOBQ_JOB_ID: '1',
        JOBQ_KIND: 'work',
        JOBQ_ATTEMPT: '1',
        JOBQ_MAX_ATTEMPTS: '7',
        JOBQ_OUTPUT_DIR: path.join(dir, 'output', '1'),
      },
    });
  });

  it('waits the retry policy’s delay, with the jitter of seed, job and attempt', async () => {
    provider.answer = () => exited(1);
    await insert({});
    await makeDrainer().tick('schedule');
    const first = (await findJob(db, '1')).run_after.getTime() - START.getTime();
    expect(first).toBeGreaterThanOrEqual(120_000);
    expect(first).toBeLessThan(150_000);
    await db.exec('truncate jobs, job_attempts restart identity');
    await insert({});
    await makeDrainer().tick('schedule');
    expect((await findJob(db, '1')).run_after.getTime() - START.getTime()).toBe(first);
  });

  it('never claims more than its free slots: a claimed row does not wait', async () => {
    await insert({}, {}, {}, {}, {});
    const tick = makeDrainer({ concurrency: 2 }).tick('schedule');
    await provider.started(2);
    expect(await statuses()).toEqual(['running', 'running', 'pending', 'pending', 'pending']);
    provider.running[0]!.end(exited(0));
    await provider.started(3);
    expect((await statuses()).filter((status) => status === 'running')).toHaveLength(2);
    provider.answer = () => exited(0);
    endAll();
    expect(await tick).toMatchObject({ claimed: 5, done: 5 });
  });

  it('claims at most a batch at a time, and still fills the slots', async () => {
    await insert({}, {}, {}, {}, {});
    const claims: number[] = [];
    const tick = makeDrainer({
      concurrency: 4,
      batch: 2,
      beforeClaim: async () => void claims.push(provider.running.length),
    }).tick('schedule');
    await provider.started(4);
    provider.answer = () => exited(0);
    endAll();
    await tick;
    expect(claims.length).toBeGreaterThan(2);
  });

  it('lets an overlapping tick join: it reaps, and nothing is doubled', async () => {
    await insert({}, {});
    const drainer = makeDrainer({ concurrency: 1 });
    const first = drainer.tick('schedule');
    await provider.started(1);
    const second = drainer.tick('schedule');
    provider.answer = () => exited(0);
    endAll();
    expect(await second).toEqual(await first);
    expect(await first).toMatchObject({ claimed: 2, done: 2 });
    expect(provider.runs).toHaveLength(2);
  });

  it('settles many attempts at once without a warning of the runtime', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error) => warnings.push(warning.name);
    process.on('warning', listen);
    await insert(...Array.from({ length: 20 }, () => ({})));
    const drained = makeDrainer({ concurrency: 20 }).tick('schedule');
    await provider.started(20);
    endAll();
    await drained;
    // Warnings are told in a tick of their own.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });

  it('looks again when it is told to, and says whether a drain is under way', async () => {
    const drainer = makeDrainer({ concurrency: 2 });
    expect(drainer.lookAgain()).toBe(false);
    await insert({});
    const drained = drainer.tick('schedule');
    await provider.started(1);
    await insert({});
    expect(drainer.lookAgain()).toBe(true);
    await provider.started(2);
    endAll();
    expect(await drained).toMatchObject({ claimed: 2 });
  });

  it('is over for whoever tells it to look again when it has said so', async () => {
    const drainer = makeDrainer();
    const answers: boolean[] = [];
    events.on('drained', () => answers.push(drainer.lookAgain()));
    await drainer.tick('schedule');
    expect(answers).toEqual([false]);
  });

  it('that is held claims no more, lets what runs end, and goes on with the next tick', async () => {
    await insert({}, {}, {});
    const drainer = makeDrainer({ concurrency: 1 });
    const first = drainer.tick('schedule');
    await provider.started(1);
    drainer.hold();
    provider.answer = () => exited(0);
    endAll();
    expect(await first).toMatchObject({ claimed: 1, done: 1 });
    expect(await statuses()).toEqual(['done', 'pending', 'pending']);
    expect(await drainer.tick('by hand')).toMatchObject({ claimed: 2, done: 2 });
  });

  it('that is held goes on when a tick by hand comes', async () => {
    await insert({}, {});
    const drainer = makeDrainer({ concurrency: 1 });
    const first = drainer.tick('schedule');
    await provider.started(1);
    drainer.hold();
    const second = drainer.tick('by hand');
    provider.answer = () => exited(0);
    endAll();
    await Promise.all([first, second]);
    expect(await statuses()).toEqual(['done', 'done']);
  });

  it('starts the next attempt in another provider, and says when the old one is unused', async () => {
    await insert({}, {});
    const other = new FakeProvider();
    other.answer = () => exited(0);
    let inUse = provider;
    const drainer = makeDrainer({ concurrency: 1, provider: () => inUse });
    const drained = drainer.tick('schedule');
    await provider.started(1);
    inUse = other;
    let unused = false;
    const emptied = drainer.unused(provider).then(() => {
      unused = true;
    });
    await drainer.unused(other);
    expect(unused).toBe(false);
    endAll();
    await emptied;
    expect((await findJob(db, '1')).status).toBe('done');
    await drained;
    expect([provider.runs.length, other.runs.length]).toEqual([1, 1]);
  });

  it('counts a provider as used from before the claim that starts in it', async () => {
    await insert({});
    let claiming = () => {};
    const reached = new Promise<void>((resolve) => {
      claiming = resolve;
    });
    let goOn = () => {};
    let claims = 0;
    const query: Database['query'] = async (sql, params) => {
      if (sql === CLAIM_SQL && claims++ === 0) {
        claiming();
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
      }
      return db.query(sql, params);
    };
    const slow = { query } as Database;
    const drainer = makeDrainer({ db: slow });
    const drained = drainer.tick('schedule');
    await reached;
    const order: string[] = [];
    const unused = drainer.unused(provider).then(() => order.push('unused'));
    goOn();
    await provider.started(1);
    order.push('started');
    provider.answer = () => exited(0);
    endAll();
    await drained;
    await unused;
    expect(order).toEqual(['started', 'unused']);
  });

  it('looks again for an overlapping tick that made something due', async () => {
    await insert({}, { runAfter: new Date(START.getTime() + 60_000) });
    const drainer = makeDrainer({ concurrency: 2 });
    const first = drainer.tick('schedule');
    await provider.started(1);
    clock.advanceTo(new Date(START.getTime() + 60_000));
    void drainer.tick('schedule');
    await provider.started(2);
    endAll();
    expect(await first).toMatchObject({ claimed: 2, done: 2 });
  });

  it.each([
    ['has no handler', { kind: 'nobody' }, /no handler for kind "nobody"/],
    ['has a kind that is a path', { kind: '../work' }, /cannot name a handler/],
  ])('runs the others when the first of a claim %s (dbos-py 546)', async (_what, bad, error) => {
    provider.answer = () => exited(0);
    await insert(bad, {}, {});
    const counts = await makeDrainer({ concurrency: 3 }).tick('schedule');
    expect(counts).toMatchObject({ claimed: 3, done: 2, retried: 1 });
    expect((await findJob(db, '1')).last_error).toMatch(error);
  });

  it('runs the others when no sandbox can be made for the first', async () => {
    provider.answer = () => exited(0);
    provider.failCreate = (label) => label === 'job 1';
    await insert({}, {}, {});
    const counts = await makeDrainer({ concurrency: 3 }).tick('schedule');
    expect(counts).toMatchObject({ claimed: 3, done: 2, retried: 1 });
    expect((await showJob(db, '1')).attempts_log).toMatchObject([
      { outcome: 'lost', error: 'no sandbox for job 1' },
    ]);
  });

  it('reaps what a crashed drainer left, then runs it', async () => {
    await insert({});
    await claim(db, { limit: 1, now: START, provider: 'process', isolation: 'none' });
    provider.answer = () => exited(0);
    clock.advanceTo(new Date(START.getTime() + LEASE_MS));
    const counts = await makeDrainer().tick('schedule');
    expect(counts).toEqual({ claimed: 1, done: 1, retried: 0, dead: 0, reaped: 1 });
    expect(await findJob(db, '1')).toMatchObject({ status: 'done', attempts: 2 });
  });

  it('counts a job that is reaped on its last attempt as dead (graphile-worker 254)', async () => {
    await insert({ maxAttempts: 1 });
    await claim(db, { limit: 1, now: START, provider: 'process', isolation: 'none' });
    clock.advanceTo(new Date(START.getTime() + LEASE_MS));
    expect(await makeDrainer().tick('schedule')).toMatchObject({ reaped: 1, dead: 1, claimed: 0 });
  });

  it('renews its leases at a third of them, so a long job is not reaped', async () => {
    await insert({});
    const drainer = makeDrainer();
    const tick = drainer.tick('schedule');
    await provider.started(1);
    for (let beat = 1; beat <= 6; beat += 1) {
      clock.advanceTo(new Date(START.getTime() + (beat * LEASE_MS) / 3));
      await locked(clock.now());
    }
    expect(await reap(db, { now: clock.now(), leaseMs: LEASE_MS })).toEqual([]);
    endAll();
    expect(await tick).toMatchObject({ done: 1 });

    /** Resolves when the heartbeat that was due has been written. */
    async function locked(now: Date): Promise<void> {
      while ((await findJob(db, '1')).locked_at?.getTime() !== now.getTime()) {
        await new Promise(setImmediate);
      }
    }
  });

  it('does not reap its own attempts after a sleep longer than the lease', async () => {
    await insert({});
    const drainer = makeDrainer();
    const first = drainer.tick('schedule');
    await provider.started(1);
    clock.advanceTo(new Date(START.getTime() + 6 * 3_600_000));
    const second = drainer.tick('catch-up');
    await drained(db);
    endAll();
    expect(await second).toMatchObject({ claimed: 1, done: 1, reaped: 0 });
    await first;
  });

  it('kills an attempt whose claim was taken away, and records it as superseded', async () => {
    const superseded: unknown[] = [];
    events.on('superseded', (event) => superseded.push(event));
    await insert({});
    const drainer = makeDrainer();
    const tick = drainer.tick('schedule');
    await provider.started(1);
    const { claimId } = await cancel(db, { id: '1', now: clock.now() });
    await drainer.kill(claimId!);
    expect(await tick).toMatchObject({ claimed: 1, done: 0, retried: 0, dead: 0 });
    expect(provider.runs[0]!.killed).toBe(true);
    expect(await findJob(db, '1')).toMatchObject({
      status: 'dead',
      last_error: 'cancelled by hand',
    });
    expect((await showJob(db, '1')).attempts_log).toMatchObject([{ outcome: 'superseded' }]);
    expect(superseded).toHaveLength(1);
  });

  it('kills an attempt that a heartbeat finds without its claim', async () => {
    await insert({});
    const tick = makeDrainer().tick('schedule');
    await provider.started(1);
    await cancel(db, { id: '1', now: clock.now() });
    clock.advanceTo(new Date(START.getTime() + LEASE_MS / 3));
    await tick;
    expect(provider.runs[0]!.killed).toBe(true);
  });

  describe('when it is stopped (oban 856)', () => {
    it('claims nothing more, and gives back what does not end within the grace', async () => {
      await insert(...Array.from({ length: 11 }, () => ({})));
      const drainer = makeDrainer({ concurrency: 1 });
      const tick = drainer.tick('schedule');
      await provider.started(1);
      await drainer.stop({ graceMs: 0 });
      await tick;
      expect(provider.runs).toHaveLength(1);
      expect(await statuses()).toEqual(Array(11).fill('pending'));
      expect(await findJob(db, '1')).toMatchObject({ attempts: 0, claim_id: null });
      expect((await showJob(db, '1')).attempts_log).toMatchObject([{ outcome: 'released' }]);
    });

    it('says that a claim was lost, where it had nothing to give back', async () => {
      const said: string[] = [];
      events.on('released', () => said.push('released'));
      events.on('superseded', () => said.push('superseded'));
      await insert({});
      const drainer = makeDrainer();
      const tick = drainer.tick('schedule');
      await provider.started(1);
      await reap(db, { now: clock.now(), leaseMs: 0 });
      await drainer.stop({ graceMs: 0 });
      await tick;
      expect(said).toEqual(['superseded']);
      expect(await findJob(db, '1')).toMatchObject({ status: 'pending', attempts: 1 });
    });

    it('lets a job end within the grace', async () => {
      await insert({}, {});
      const drainer = makeDrainer({ concurrency: 1 });
      const tick = drainer.tick('schedule');
      await provider.started(1);
      const stopped = drainer.stop({ graceMs: 600_000 });
      endAll();
      await stopped;
      expect(await tick).toMatchObject({ done: 1 });
      expect(await statuses()).toEqual(['done', 'pending']);
    });

    it('stops at once when told again', async () => {
      await insert({});
      const drainer = makeDrainer();
      const tick = drainer.tick('schedule');
      await provider.started(1);
      const slow = drainer.stop({ graceMs: 600_000 });
      await drainer.stop({ graceMs: 0 });
      await slow;
      await tick;
      expect(await findJob(db, '1')).toMatchObject({ status: 'pending', attempts: 0 });
    });
  });

  describe('when the database goes away', () => {
    const away = () => new JobqError('database-unreachable', 'gone');
    /** The same database, failing while `broken` says so. */
    const failing = (broken: (sql: string) => boolean): Database => ({
      driver: 'pglite',
      location: 'memory',
      query: (sql, params) => (broken(sql) ? Promise.reject(away()) : db.query(sql, params)),
      exec: (sql) => db.exec(sql),
      transaction: (work) => db.transaction(work),
      maintain: () => db.maintain(),
      close: () => db.close(),
    });

    it('ends the tick with the error after running attempts have ended', async () => {
      let broken = false;
      await insert({}, {});
      const drainer = makeDrainer({
        concurrency: 1,
        db: failing((sql) => broken && sql.includes('with due')),
      });
      const tick = drainer.tick('schedule');
      await provider.started(1);
      broken = true;
      endAll();
      await expect(tick).rejects.toMatchObject({ code: 'database-unreachable' });
      expect(await statuses()).toEqual(['done', 'pending']);
      broken = false;
      provider.answer = () => exited(0);
      expect(await drainer.tick('schedule')).toMatchObject({ done: 1 });
    });

    it('keeps a result and settles it when the database is back', async () => {
      let failures = 2;
      await insert({});
      const drainer = makeDrainer({
        patienceMs: 60_000,
        db: failing((sql) => sql.includes('with settled') && failures-- > 0),
      });
      provider.answer = () => exited(0);
      expect(await drainer.tick('schedule')).toMatchObject({ done: 1 });
      expect(failures).toBe(-1);
    });

    it('says which job’s end could not be written when it stays away too long', async () => {
      const warnings: string[] = [];
      events.on('warning', ({ message }) => warnings.push(message));
      await insert({});
      provider.answer = () => exited(0);
      const drainer = makeDrainer({ db: failing((sql) => sql.includes('with settled')) });
      await expect(drainer.tick('schedule')).rejects.toMatchObject({
        code: 'database-unreachable',
      });
      expect(warnings).toEqual([
        expect.stringMatching(/how job 1 ended could not be written: gone/),
      ]);
    });

    it('goes on claiming at the next tick, also while an attempt runs', async () => {
      let broken = false;
      await insert({}, {}, {});
      const drainer = makeDrainer({
        concurrency: 2,
        db: failing((sql) => broken && sql.includes('with due')),
      });
      const first = drainer.tick('schedule');
      await provider.started(2);
      broken = true;
      provider.runOf('1').end(exited(0));
      await settled('1', 'done');
      broken = false;
      const second = drainer.tick('schedule');
      await provider.started(3);
      endAll();
      expect(await second).toMatchObject({ claimed: 3, done: 3 });
      expect(await first).toEqual(await second);
    });

    it('renews its leases as soon as it is back, not only when the next renewal is due', async () => {
      let broken = true;
      await insert({});
      const drainer = makeDrainer({
        db: failing((sql) => {
          const hit = broken && sql.includes('held(id, claim_id)');
          broken &&= !hit;
          return hit;
        }),
      });
      const tick = drainer.tick('schedule');
      await provider.started(1);
      clock.advanceTo(new Date(START.getTime() + LEASE_MS / 3));
      await expect.poll(async () => (await findJob(db, '1')).locked_at).toEqual(clock.now());
      expect(broken).toBe(false);
      endAll();
      await tick;
    });

    it.each([
      ['fails', () => Promise.reject(away())],
      ['does not answer', () => new Promise<never>(() => {})],
    ])('does not hold up a stop, when it %s', async (_how, answer) => {
      let broken = false;
      await insert({}, {});
      const drainer = makeDrainer({
        concurrency: 1,
        patienceMs: LEASE_MS,
        db: {
          ...failing(() => false),
          query: (sql, params) => (broken ? answer() : db.query(sql, params)),
        },
      });
      const tick = expect(drainer.tick('schedule')).rejects.toMatchObject({
        code: 'database-unreachable',
      });
      await provider.started(1);
      broken = true;
      const joining = expect(drainer.tick('schedule')).rejects.toMatchObject({
        code: 'database-unreachable',
      });
      await drainer.stop({ graceMs: 0 });
      await Promise.all([tick, joining]);
      expect(provider.running).toEqual([]);
      expect(await statuses()).toEqual(['running', 'pending']);
    });
  });
});

/** Resolves once every statement sent before it has run: PGlite runs them in order. */
async function drained(db: Database): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await db.query('select 1');
}
