/** The command line against a server that other machines could share. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jobq, scratch, start, until } from '../support/cli.js';
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

  it('deletes done jobs only when it is said what to keep', async () => {
    const env = { JOBQ_DATABASE_URL: await freshDatabaseUrl() };
    const run = async (...args: string[]) => jobq([...args, '--json'], { cwd, env });
    await run('enqueue', 'ok', '--count', '3');
    await run('drain');
    expect((await run('prune')).status).toBe(2);
    const { stdout } = await run('prune', '--keep-jobs', '1');
    expect(JSON.parse(stdout)).toEqual({ pruned: 2, dry_run: false });
    // What handlers wrote is not of this database alone.
    expect(readdirSync(path.join(cwd, '.jobq/output'))).toHaveLength(3);
  });

  it('migrates, inserts, drains and shows', async () => {
    const env = { JOBQ_DATABASE_URL: await emptyDatabaseUrl() };
    const run = async (...args: string[]) =>
      JSON.parse((await jobq([...args, '--json'], { cwd, env })).stdout);
    expect((await run('migrate')).applied).toHaveLength(5);
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

  it('claims nothing in a drain that is ended before it began to claim', async () => {
    const url = await freshDatabaseUrl();
    await jobq(['enqueue', 'gate', '--database-url', url], { cwd });
    const drain = start(['drain', '--database-url', url, '--grace', '100ms'], { cwd });
    const journal = path.join(cwd, '.jobq/journal');
    // Its sandboxes are being made ready.
    await until(() => existsSync(journal) && readdirSync(journal).length > 0);
    drain.child.kill('SIGTERM');
    expect((await drain.ended).status).toBe(130);
    const jobs = await jobq(['jobs', 'list', '--json', '--database-url', url], { cwd });
    expect(JSON.parse(jobs.stdout)).toMatchObject([{ id: '1', status: 'pending', attempts: 0 }]);
  });
});
