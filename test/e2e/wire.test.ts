/** The Postgres port of the emulator: the app's own driver, the drainer's jobs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jobq, scratch, start, startEmulator } from '../support/cli.js';

/** A tick each second, so that nothing has to be waited for longer. */
const EAGER = ['--cron', '* * * * * *', '--retry', 'seconds'];
const URL_LINE = /^ +postgres +(postgres:\S+)$/m;

describe('the Postgres port', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = scratch();
    mkdirSync(path.join(cwd, 'handlers'), { recursive: true });
    writeFileSync(path.join(cwd, 'handlers', 'ok.sh'), 'cat "$1"');
  });

  it('is where the app inserts its jobs, in its own transactions', async () => {
    const emulator = await startEmulator({ cwd }, ...EAGER);
    const [, url] = await emulator.seen(URL_LINE);
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    onTestFinished(() => pool.end());
    await pool.query('create table orders (id serial primary key, paid boolean)');
    const order = async (commit: boolean) => {
      const client = await pool.connect();
      await client.query('begin');
      const { rows } = await client.query('insert into orders (paid) values (true) returning id');
      await client.query('insert into jobs (kind, payload) values ($1, $2)', [
        'ok',
        { order: rows[0].id },
      ]);
      await client.query(commit ? 'commit' : 'rollback');
      client.release();
    };
    await Promise.all(Array.from({ length: 10 }, (_, i) => order(i % 2 === 0)));
    await emulator.seen(
      /done +job \d+ ok in(.*\n)*.*done +job \d+ ok in(.*\n)*.*done(.*\n)*.*done(.*\n)*.*done/,
    );
    const { rows } = await pool.query(`select status, count(*)::int from jobs group by 1`);
    expect(rows).toEqual([{ status: 'done', count: 5 }]);
    const info = await (await fetch(`${emulator.url}/info`)).json();
    expect(info.urls.postgres).toBe(url);
  });

  it('does not let a client that holds a transaction stop the drainer for good', async () => {
    const emulator = await startEmulator(
      { cwd, env: { JOBQ_PG_IDLE_IN_TRANSACTION: '500ms' } },
      ...EAGER,
    );
    const [, url] = await emulator.seen(URL_LINE);
    const client = new pg.Client({ connectionString: url, application_name: 'the debugger' });
    const ended = new Promise<Error & { code?: string }>((resolve) => client.on('error', resolve));
    await client.connect();
    await client.query('begin');
    await client.query(`insert into jobs (kind, payload) values ('ok', '{}')`);
    await emulator.seen(/"the debugger" at 127\.0\.0\.1:\d+ was ended/);
    expect((await ended).code).toBe('25P03');
    await jobq(['enqueue', 'ok'], { cwd });
    await emulator.seen(/done +job \d+ ok in/);
  });

  it('moves when it may, and says so, or is exit status 3', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const taken = await jobq(['--port', '0', '--pg-port', String(port)], { cwd });
    expect(taken.status).toBe(3);
    expect(taken.stderr).toContain(`port ${port} on 127.0.0.1, for Postgres clients, is taken`);
    expect(taken.stderr).toContain('--pg-port 0');
  });

  it('wakes the drainer at the end of a transaction, with --wake', async () => {
    const emulator = await startEmulator({ cwd }, '--wake', '--cron', '0 0 1 1 *');
    const [, url] = await emulator.seen(URL_LINE);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('begin');
    await client.query(`insert into jobs (kind, payload) values ('ok', '{}')`);
    await client.query('commit');
    await emulator.seen(/done +job \d+ ok in/);
  });

  it('is a hint to the server, where there is one', async () => {
    const { freshDatabaseUrl } = await import('../support/postgres.js');
    const databaseUrl = await freshDatabaseUrl();
    const args = ['--port', '0', '--pg-port', '5628', '--database-url', databaseUrl];
    const emulator = start(args, { cwd });
    const [, url] = await emulator.seen(/^ +postgres +the server itself: (postgres:\S+)$/m);
    expect(new URL(url!).pathname).toBe(new URL(databaseUrl).pathname);
    expect(url).not.toContain('@');
    await emulator.seen(/warning: pgPort is not used with a database server/);
  });
});
