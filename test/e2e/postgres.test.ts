/** The command line against a server that other machines could share, and that can go away. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jobq, scratch, start, startEmulator } from '../support/cli.js';
import { emptyDatabaseUrl, freshDatabaseUrl } from '../support/postgres.js';
import { TcpProxy } from '../support/tcp-proxy.mjs';

/** A way to the server that can be cut. */
async function wire(target: string) {
  const through = await TcpProxy.toUrl(target);
  onTestFinished(() => through.proxy.goAway());
  return through;
}

describe('with --database-url', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = scratch();
    mkdirSync(path.join(cwd, 'handlers'));
    writeFileSync(path.join(cwd, 'handlers/ok.sh'), 'true');
    // Ends when the test says so.
    writeFileSync(
      path.join(cwd, 'handlers/gate.sh'),
      'until [ -e "$0.open" ]; do sleep 0.05; done; echo through',
    );
  });
  const open = () => writeFileSync(path.join(cwd, 'handlers/gate.sh.open'), '');

  it('migrates, inserts, drains and shows', async () => {
    const env = { JOBQ_DATABASE_URL: await emptyDatabaseUrl() };
    const run = async (...args: string[]) =>
      JSON.parse((await jobq([...args, '--json'], { cwd, env })).stdout);
    expect((await run('migrate')).applied).toHaveLength(4);
    expect((await run('migrate')).applied).toEqual([]);
    expect(await run('enqueue', 'ok', '--count', '5')).toEqual({ ids: ['1', '2', '3', '4', '5'] });
    // Several drainers share the table: SKIP LOCKED keeps them apart.
    const drained = await Promise.all([run('drain'), run('drain')]);
    expect(drained[0].done + drained[1].done).toBe(5);
    expect((await run('stats')).counts).toEqual({ pending: 0, running: 0, done: 5, dead: 0 });
  });

  it('ends a drain with 3 when the server goes away in the middle, and loses nothing', async () => {
    const direct = await freshDatabaseUrl();
    const { url, proxy } = await wire(direct);
    await jobq(['enqueue', 'gate', '--count', '2', '--database-url', direct], { cwd });
    const drain = start(['drain', '--database-url', url, '--concurrency', '1'], { cwd });
    await drain.seen(/claim +job 1 gate/);
    await proxy.goAway();
    open();
    const { status, stderr } = await drain.ended;
    expect(status).toBe(3);
    expect(stderr).toMatch(/error: .*database/);
    const jobs = JSON.parse(
      (await jobq(['jobs', 'list', '--json', '--database-url', direct], { cwd })).stdout,
    );
    expect(jobs).toMatchObject([
      { id: '2', status: 'pending', attempts: 0 },
      { id: '1', status: 'running', attempts: 1 },
    ]);
  });

  it('keeps the emulator up while the server is away, and settles what ran meanwhile', async () => {
    const direct = await freshDatabaseUrl();
    const { url, proxy } = await wire(direct);
    await jobq(['enqueue', 'gate', '--database-url', direct], { cwd });
    const emulator = await startEmulator({ cwd }, '--database-url', url, '--cron', '* * * * * *');
    await emulator.seen(/claim +job 1 gate/);
    await proxy.goAway();
    await emulator.seen(/warning: .*database/);
    expect((await fetch(`${emulator.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${emulator.url}/healthz`)).status).toBe(200);
    open();
    await proxy.comeBack();
    await emulator.seen(/done +job 1 gate/);
    await jobq(['enqueue', 'ok', '--database-url', direct], { cwd });
    await emulator.seen(/done +job 2 ok/);
  });
});
