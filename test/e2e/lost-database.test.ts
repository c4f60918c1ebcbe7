/** The emulator while the server that it works on is away. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jobq, type Running, scratch, startEmulator, until } from '../support/cli.js';
import { PostgresServer } from '../support/postgres-server.mjs';
import { TcpProxy } from '../support/tcp-proxy.mjs';

let server: PostgresServer;
let databases = 0;

/** @returns the URL of an empty database on a server that the tests may stop. */
async function newDatabase(): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  databases += 1;
  await client.query(`create database lost_${databases}`);
  await client.end();
  return server.url.replace(/postgres$/, `lost_${databases}`);
}

describe('when the database goes away', () => {
  let cwd: string;
  let url: string;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    cwd = scratch();
    mkdirSync(path.join(cwd, 'handlers'));
    writeFileSync(path.join(cwd, 'handlers/ok.sh'), 'true');
    // Says that it runs, and ends when the test says so.
    writeFileSync(
      path.join(cwd, 'handlers/gate.sh'),
      'touch "$0.running"; until [ -e "$0.open" ]; do sleep 0.05; done; echo through',
    );
    url = await newDatabase();
  });

  const handlerRuns = () => until(() => existsSync(path.join(cwd, 'handlers/gate.sh.running')));
  const openGate = () => writeFileSync(path.join(cwd, 'handlers/gate.sh.open'), '');
  const enqueue = (kind: string) => jobq(['enqueue', kind, '--database-url', url], { cwd });
  const show = async (id: string) =>
    JSON.parse((await jobq(['jobs', 'show', id, '--json', '--database-url', url], { cwd })).stdout);
  const emulator = (databaseUrl: string, ...more: string[]) =>
    startEmulator({ cwd }, '--database-url', databaseUrl, '--cron', '* * * * * *', ...more);

  /** What was told of the database, in order. */
  const told = ({ text }: Running) =>
    [...text.matchAll(/^(warning: no answer from|.* answers again$)/gm)].map(([line]) =>
      line.startsWith('warning') ? 'away' : 'back',
    );

  describe.each([
    ['stopped', () => server.stop()],
    ['killed', () => server.kill()],
  ])('because the server is %s', (_how, takeAway) => {
    beforeEach(() => {
      // A test that fails must not take the server from the next one.
      let away = false;
      onTestFinished(async () => {
        if (away) await server.start();
      });
      lose = async () => {
        away = true;
        await takeAway();
      };
      bringBack = async () => {
        away = false;
        await server.start();
      };
    });
    let lose: () => Promise<void>;
    let bringBack: () => Promise<void>;

    it('the emulator answers 503, goes on, and settles what ran meanwhile', async () => {
      await enqueue('gate');
      const running = await emulator(url);
      await handlerRuns();
      await lose();
      await running.seen(/warning: no answer from the database/);
      for (const [method, route] of [
        ['GET', '/readyz'],
        ['GET', '/jobs'],
        ['GET', '/jobs/1'],
        ['GET', '/stats'],
        ['POST', '/drain'],
        ['POST', '/jobs/1/cancel'],
      ]) {
        const response = await fetch(running.url + route, { method: method! });
        expect(response.status, route).toBe(503);
        expect(response.headers.get('content-type')).toBe('application/problem+json');
        expect(await response.json()).toMatchObject({ code: 'database-unreachable', status: 503 });
      }
      expect((await fetch(`${running.url}/healthz`)).status).toBe(200);
      expect((await fetch(`${running.url}/info`)).status).toBe(200);
      // Its handler was not killed: it ends by itself, and there is nobody to tell yet.
      openGate();
      await bringBack();
      await running.seen(/done +job 1 gate/);
      expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
      expect((await show('1')).attempts_log).toMatchObject([
        { attempt: 1, outcome: 'exited', exit_code: 0, stdout: 'through\n' },
      ]);
      expect(told(running)).toEqual(['away', 'back']);
      expect(running.child.exitCode).toBe(null);
    });

    it('ticks go on when it is back, also while a handler runs', async () => {
      await enqueue('gate');
      const running = await emulator(url, '--concurrency', '2');
      await handlerRuns();
      await lose();
      await running.seen(/warning: no answer from the database/);
      await bringBack();
      await running.seen(/answers again/);
      await enqueue('ok');
      // Not job 2: a server that is killed leaves out numbers.
      await running.seen(/done +job \d+ ok/);
      openGate();
      await running.seen(/done +job 1 gate/);
    });

    it('Ctrl-C is not held up: what cannot be given back is said', async () => {
      await enqueue('gate');
      const running = await emulator(url, '--grace', '100ms', '--lease', '1h');
      await handlerRuns();
      await lose();
      running.child.kill('SIGINT');
      const { status, stderr } = await running.ended;
      expect(status).toBe(130);
      expect(stderr).toMatch(/warning: how job 1 ended could not be written: .*lease/);
      await bringBack();
      expect(await show('1')).toMatchObject({ status: 'running', attempts: 1 });
      expect(readdirSync(path.join(cwd, '.jobq/journal'))).toEqual([]);
    });
  });

  it('over connections that lead nowhere: the emulator answers 503 in time, and goes on', async () => {
    await enqueue('gate');
    const { proxy, url: through } = await TcpProxy.toUrl(url);
    onTestFinished(() => proxy.goAway());
    const running = await emulator(through, '--lease', '6s');
    await handlerRuns();
    proxy.freezeNewcomers(true);
    const thaw = proxy.freeze();
    const response = await fetch(`${running.url}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'database-unreachable' });
    openGate();
    proxy.freezeNewcomers(false);
    await running.seen(/done +job 1 gate/);
    // What was on its way arrives late, and changes nothing.
    thaw();
    await enqueue('ok');
    await running.seen(/done +job \d+ ok/);
    expect((await show('1')).attempts_log).toMatchObject([{ outcome: 'exited', exit_code: 0 }]);
    expect(told(running)).toEqual(['away', 'back']);
  });
});
