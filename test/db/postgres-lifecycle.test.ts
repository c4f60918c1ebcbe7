import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#src/db/open.js';
import { openPostgres } from '#src/db/postgres.js';
import { freshDatabaseUrl } from '../support/postgres.js';
import { TcpProxy } from '../support/tcp-proxy.mjs';

const PASSWORD = 'secret-of-the-tests';

async function proxyTo(databaseUrl: string) {
  const through = await TcpProxy.toUrl(databaseUrl);
  onTestFinished(() => through.proxy.goAway());
  return through;
}

/** Long enough to connect on a machine that has much to do. */
const ANSWER_MS = 2_000;

async function open(databaseUrl: string, answerTimeoutMs?: number) {
  const db = await openPostgres({ databaseUrl, answerTimeoutMs });
  onTestFinished(() => db.close());
  return db;
}

/** Everything an error could print, its causes and what hangs on them included. */
function everything(error: unknown): string {
  return inspect(error, { depth: 20, showHidden: true });
}

describe('a Postgres server', () => {
  it('that goes away fails what is under way; later statements connect again', async () => {
    const { proxy, url } = await proxyTo(await freshDatabaseUrl());
    const db = await open(url);
    const under = db.query('select pg_sleep(60)').catch((reason) => reason);
    const transaction = expect(
      db.transaction(async (tx) => {
        await tx.query(`insert into jobs (kind, payload) values ('a', '{}')`);
        await proxy.goAway();
        await tx.query('select 1');
      }),
    ).rejects.toMatchObject({ code: 'database-unreachable' });
    const error = await under;
    expect(error).toMatchObject({
      code: 'database-unreachable',
      message: expect.stringContaining(db.location),
    });
    expect(everything(error)).not.toContain(PASSWORD);
    await transaction;
    await expect(db.query('select 1')).rejects.toMatchObject({
      code: 'database-unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await proxy.comeBack();
    expect((await db.query('select id from jobs')).rowCount).toBe(0);
  });

  describe('over a connection that leads nowhere, and stays open', () => {
    it('fails what is under way in time; later statements connect again', async () => {
      const { proxy, url } = await proxyTo(await freshDatabaseUrl());
      const db = await open(url, ANSWER_MS);
      const thaw = proxy.freeze();
      await expect(db.query('select 1')).rejects.toMatchObject({ code: 'database-unreachable' });
      expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
      // The dead connection was closed, not kept beside the new one.
      expect(proxy.connections).toBe(2);
      thaw();
      await expect.poll(() => proxy.connections).toBe(1);
    });

    it('fails a transaction in time, whichever of its statements meets it', async () => {
      const { proxy, url } = await proxyTo(await freshDatabaseUrl());
      const db = await open(url, ANSWER_MS);
      await db.query('select 1');
      proxy.freeze();
      await expect(db.transaction(async () => {})).rejects.toMatchObject({
        code: 'database-unreachable',
      });
      const commit = db.transaction(async (tx) => {
        await tx.query('select 1');
        proxy.freeze();
      });
      await expect(commit).rejects.toMatchObject({ code: 'database-unreachable' });
    });

    it('does not hurry what the server works on for longer in a transaction', async () => {
      const db = await open(await freshDatabaseUrl(), ANSWER_MS);
      await db.transaction(async (tx) => {
        await tx.query('select pg_sleep($1)', [(ANSWER_MS * 1.2) / 1_000]);
        await tx.exec(`select pg_sleep(${(ANSWER_MS * 1.2) / 1_000})`);
      });
    });

    it('fails in time when there is silence from the start', async () => {
      const { proxy, url } = await proxyTo(await freshDatabaseUrl());
      proxy.freezeNewcomers(true);
      await expect(
        openPostgres({ databaseUrl: url, answerTimeoutMs: ANSWER_MS }),
      ).rejects.toMatchObject({
        code: 'database-unreachable',
      });
    });

    it('closes in time', async () => {
      const { proxy, url } = await proxyTo(await freshDatabaseUrl());
      const db = await open(url);
      proxy.freeze();
      const under = expect(db.query('select 1')).rejects.toMatchObject({
        code: 'database-unreachable',
      });
      await db.close();
      await under;
    });
  });

  it('that ends an idle connection does not end the process', async () => {
    const url = await freshDatabaseUrl();
    const db = await open(url);
    const other = await open(url);
    await db.query('select 1');
    const ended = await other.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    );
    expect(ended.rowCount).toBeGreaterThan(0);
    // The end may not have reached this side yet: then the first statement finds out.
    await db.query('select 1').catch(() => {});
    expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('that is not there: host, port and database, and no password', async () => {
    const error = await openPostgres({
      databaseUrl: `postgres://me:${PASSWORD}@127.0.0.1:1/missing`,
    }).catch((reason) => reason);
    expect(error).toMatchObject({
      code: 'database-unreachable',
      message: expect.stringContaining('127.0.0.1:1/missing'),
      hint: expect.stringContaining('server runs'),
    });
    expect(everything(error)).not.toContain(PASSWORD);
  });

  it('that turns us away: why, and no password', async () => {
    const url = new URL(await freshDatabaseUrl());
    url.password = 'wrong-secret';
    const error = await openPostgres({ databaseUrl: url.href }).catch((reason) => reason);
    expect(error).toMatchObject({
      code: 'database-refused',
      message: expect.stringContaining('28P01'),
    });
    expect(everything(error)).not.toContain('wrong-secret');
    url.password = PASSWORD;
    url.pathname = '/no_such_database';
    await expect(openPostgres({ databaseUrl: url.href })).rejects.toMatchObject({
      code: 'database-refused',
      message: expect.stringContaining('3D000'),
    });
  });

  it.each(['not a url', 'mysql://me:secret@host/db', 'postgres://me:se%cret@host:port/db'])(
    'is not what a wrong URL names, and the URL is not repeated: %s',
    async (databaseUrl) => {
      const error = await openDatabase({ databaseUrl, command: 'test' }).catch((reason) => reason);
      expect(error).toMatchObject({ code: 'config' });
      expect(everything(error)).not.toContain('cret@');
    },
  );

  it('is shown without its password, and sees who we are', async () => {
    const url = await freshDatabaseUrl();
    const { db, lock } = await openDatabase({ databaseUrl: url, command: 'test' });
    onTestFinished(() => db.close());
    expect(lock).toBeUndefined();
    expect(db.location).toBe(`127.0.0.1:${new URL(url).port}${new URL(url).pathname}`);
    const { rows } = await db.query(`select current_setting('application_name') as name`);
    expect(rows).toEqual([{ name: 'jobq-dev' }]);
  });
});
