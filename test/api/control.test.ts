import { beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '#src/api/app.js';
import {
  Advanced,
  Examples,
  Paused,
  ReplayStarted,
  SandboxInUse,
} from '#src/api/contract/control.js';
import { Control, type ControlOptions } from '#src/api/control.js';
import { Service } from '#src/api/service.js';
import { Cron } from '#src/drain/cron.js';
import { JobqError } from '#src/errors.js';
import { createSchedule } from '#src/schedule.js';
import { FakeProvider } from '../support/fake-provider.js';
import { apiWorld } from './world.js';

const HOUR = 3_600_000;
const world = apiWorld();

let app: ReturnType<typeof createApp>;
let cron: Cron;
let ticks: string[];
/** What reached the emulator. */
let calls: unknown[];

beforeEach(() => {
  ticks = [];
  calls = [];
  cron = new Cron(world.clock, createSchedule('0 0 1 1 *', 'UTC'), (cause) => ticks.push(cause));
  use({});
});

/** An app of an emulator that may differ. */
function use(more: Partial<ControlOptions>): void {
  const { db, clock, events } = world;
  const control = new Control({
    db,
    clock,
    events,
    cron,
    drainer: () => undefined,
    allowTimeTravel: false,
    useSandbox: async (name) => {
      if (name === 'qemu')
        throw new JobqError('sandbox-unavailable', 'no qemu here', 'Install it.');
      return new FakeProvider();
    },
    replay: async (...given) => {
      calls.push(given);
      return { id: '1', jobs: 3 };
    },
    copyExamples: async () => ({ dir: '/handlers', created: ['hello.py'] }),
    ...more,
  });
  app = createApp(new Service({ ...world.options, cron, control }));
}

async function post(path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const response = await app.request(`http://127.0.0.1${path}`, {
    method: 'POST',
    headers: { host: '127.0.0.1' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const get = async (path: string) =>
  (await app.request(`http://127.0.0.1${path}`, { headers: { host: '127.0.0.1' } })).json();

/** Resolves when what was due by now has been called. */
const alarmsRung = () =>
  new Promise<void>((resolve) => void world.clock.at(world.clock.now(), resolve));

/** How far ahead of real time the clock is, in whole seconds. */
const aheadS = () => Math.floor(world.clock.offsetMs / 1_000);

describe('POST /advance', () => {
  it('moves the clock, tells it, and catches up with one tick', async () => {
    cron.start();
    const told: number[] = [];
    world.events.on('clock', ({ offsetMs }) => told.push(offsetMs));
    const { body } = await post('/advance', { by: '400d' });
    expect(Advanced.strict().parse(body)).toMatchObject({ offset_ms: 400 * 24 * HOUR, ticks: 1 });
    expect(Date.parse((body as Advanced).now) - Date.now()).toBeGreaterThan(399 * 24 * HOUR);
    expect(told).toEqual([400 * 24 * HOUR]);
    await alarmsRung();
    expect(ticks).toEqual(['catch-up']);
    expect(await get('/info')).toMatchObject({ clock_offset_ms: 400 * 24 * HOUR });
    cron.stop();
  });

  it('adds up, and fires nothing where no slot lies between', async () => {
    cron.start();
    expect((await post('/advance', { by: '5m' })).body).toMatchObject({ ticks: 0 });
    expect((await post('/advance', { by: '30s' })).body).toMatchObject({ offset_ms: 330_000 });
    cron.stop();
  });

  it('to the next tick, which then fires', async () => {
    cron.start();
    const slot = cron.next!;
    const { body } = await post('/advance', { to: 'next-tick' });
    expect(Date.parse((body as Advanced).now)).toBeGreaterThanOrEqual(slot.getTime());
    expect(Date.parse((body as Advanced).now)).toBeLessThan(slot.getTime() + 5_000);
    expect(body).toMatchObject({ ticks: 1 });
    await alarmsRung();
    expect(ticks).toEqual(['schedule']);
    cron.stop();
  });

  it('to the next retry: that job is due then, and one that never ran does not count', async () => {
    await world.db.query(
      `insert into jobs (kind, payload, attempts, run_after) values
       ('work', '{}', 0, $1::timestamptz + interval '10 minutes'),
       ('work', '{}', 1, $1::timestamptz + interval '30 minutes 0.0005 seconds'),
       ('work', '{}', 1, $1::timestamptz + interval '2 hours')`,
      [world.clock.now()],
    );
    await post('/advance', { to: 'next-retry' });
    expect(aheadS()).toBeGreaterThan(29 * 60);
    expect(aheadS()).toBeLessThanOrEqual(30 * 60);
    const { rows } = await world.db.query(
      'select id from jobs where run_after <= $1::timestamptz',
      [world.clock.now()],
    );
    expect(rows.map(({ id }) => id)).toEqual(['1', '2']);
  });

  it('to a time', async () => {
    const to = new Date(Date.now() + 7 * HOUR).toISOString();
    const { body } = await post('/advance', { to });
    expect(Date.parse((body as Advanced).now) - Date.parse(to)).toBeLessThan(1_000);
    expect(Date.parse((body as Advanced).now)).toBeGreaterThanOrEqual(Date.parse(to));
  });

  it.each<[object, number, RegExp]>([
    [{}, 400, /^neither by nor to is given$/],
    [{ by: '5m', to: 'next-tick' }, 400, /^both by and to are given$/],
    [{ by: 'soon' }, 400, /^by: is no duration/],
    [{ by: '-5m' }, 400, /^by: is no duration/],
    [{ by: 5 }, 400, /^by: expected string/],
    [{ to: 'last-tick' }, 400, /^to: is neither next-tick, next-retry nor a time/],
    [{ to: '2020-01-01T00:00:00Z' }, 400, /^to: 2020-01-01.* has passed: the clock is at 20/],
    [{ to: 'next-tick' }, 409, /^the schedule has no tick left$/],
    [{ to: 'next-retry' }, 409, /^no job waits for a retry$/],
    [{ bye: '5m' }, 400, /^unknown field "bye", did you mean "by"\?$/],
  ])('refuses %j, and moves nothing', async (body, status, detail) => {
    const reply = await post('/advance', body);
    expect(reply).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } });
    expect(world.clock.offsetMs).toBe(0);
  });

  it('refuses to leave the calendar', async () => {
    let reply = await post('/advance', { by: '36525d' });
    for (let n = 0; n < 3_000 && reply.status === 200; n += 1) {
      reply = await post('/advance', { by: '36525d' });
    }
    expect(reply).toMatchObject({ status: 400, body: { code: 'input' } });
    expect(Number.isNaN(world.clock.now().getTime())).toBe(false);
  });

  it('leaves the time of a shared database alone, unless that is allowed', async () => {
    const db = {
      ...world.db,
      driver: 'postgres',
      location: 'postgres://db/app',
    } as typeof world.db;
    use({ db });
    expect(await post('/advance', { by: '5m' })).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringMatching(/^the database postgres:\/\/db\/app may be shared/),
        hint: expect.stringContaining('--allow-time-travel'),
      },
    });
    expect(world.clock.offsetMs).toBe(0);
    use({ db, allowTimeTravel: true });
    expect((await post('/advance', { by: '5m' })).status).toBe(200);
  });
});

describe('POST /pause and /resume', () => {
  it('hold the schedule and let it go on, and tell each change once', async () => {
    cron.start();
    const told: boolean[] = [];
    world.events.on('paused', ({ paused }) => told.push(paused));
    for (const path of ['/pause', '/pause']) {
      expect(Paused.strict().parse((await post(path)).body)).toEqual({ paused: true });
    }
    expect(await get('/info')).toMatchObject({ cron: { paused: true, next_tick: null } });
    await post('/advance', { by: '400d' });
    await alarmsRung();
    expect(ticks).toEqual([]);
    expect(await post('/advance', { to: 'next-tick' })).toMatchObject({
      status: 409,
      body: { detail: 'the drainer is paused: no tick is next' },
    });
    for (const path of ['/resume', '/resume']) {
      expect((await post(path)).body).toEqual({ paused: false });
    }
    expect(await get('/info')).toMatchObject({
      cron: { paused: false, next_tick: expect.stringMatching(/-01-01T/) },
    });
    expect(told).toEqual([true, false]);
    cron.stop();
  });

  it('leave a drain by hand possible, and are named by explain', async () => {
    await post('/pause');
    await post('/jobs', { kind: 'work' });
    expect(JSON.stringify(await get('/jobs/1/explain'))).toMatch(/The drainer is paused/);
    expect((await post('/drain')).body).toMatchObject({ done: 1 });
  });

  it('let a drain under way end with what runs', async () => {
    world.provider.answer = () => undefined;
    const drainer = await world.options.drainer();
    use({ drainer: () => drainer });
    await post('/jobs', { kind: 'work', count: 3 } as object);
    const drained = post('/drain');
    await world.provider.started(2);
    await post('/pause');
    for (const run of world.provider.running) {
      run.end({ ...(await import('../support/fake-provider.js')).exited(0) });
    }
    expect((await drained).body).toMatchObject({ claimed: 2, done: 2 });
  });
});

describe('the other verbs', () => {
  it('POST /sandbox answers what is used from now on, and tells it', async () => {
    const told: string[] = [];
    world.events.on('sandbox', ({ description }) => told.push(description));
    const { body } = await post('/sandbox', { provider: 'process' });
    expect(SandboxInUse.strict().parse(body)).toMatchObject({ description: 'fake' });
    expect(await post('/sandbox', { provider: 'qemu' })).toMatchObject({
      status: 503,
      body: { code: 'sandbox-unavailable', hint: 'Install it.' },
    });
    expect(await post('/sandbox', { provider: 'docker' })).toMatchObject({ status: 400 });
    expect(told).toEqual(['fake']);
  });

  it('POST /replay starts a burst, at its own speed unless another is given', async () => {
    expect(ReplayStarted.strict().parse((await post('/replay', { path: 'a.jsonl' })).body)).toEqual(
      {
        id: '1',
        jobs: 3,
      },
    );
    await post('/replay', { path: 'b.jsonl', speed: 10 });
    expect(calls).toEqual([
      ['a.jsonl', 1],
      ['b.jsonl', 10],
    ]);
    for (const body of [{}, { path: '' }, { path: 'x', speed: 0 }, { path: 'x', speed: -1 }]) {
      expect(await post('/replay', body)).toMatchObject({ status: 400 });
    }
    expect(calls).toHaveLength(2);
  });

  it('POST /examples answers what was made', async () => {
    expect(Examples.strict().parse((await post('/examples')).body).created).toEqual(['hello.py']);
  });

  it('are refused where no emulator runs', async () => {
    app = world.app;
    for (const path of ['/pause', '/resume', '/examples']) {
      expect(await post(path)).toMatchObject({
        status: 409,
        body: { code: 'conflict', detail: 'no emulator runs here' },
      });
    }
    expect(await post('/advance', { by: '5m' })).toMatchObject({ status: 409 });
  });
});
