/** What only the port has: turns, limits, and an engine that can end. */
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { extractTemplate } from '#src/db/template.js';
import { tempDir } from '../support/temp-dir.js';
import { Client, startWire, type WirePort } from './servers.js';

const LONG = 'select pg_sleep(60)';

describe('the port on PGlite', () => {
  const open: { end(): Promise<unknown> }[] = [];
  const start = async (options: Parameters<typeof startWire>[0] = {}) => {
    const port = await startWire(options);
    open.push({ end: () => port.close() });
    return port;
  };
  const connect = async ({ url }: WirePort, more = {}) => {
    const client = await Client.connect(url, more);
    open.push(client);
    return client;
  };
  /** On a directory the engine can be opened again. */
  const onDirectory = () => {
    const dataDir = join(tempDir(), 'pgdata');
    extractTemplate(dataDir);
    return dataDir;
  };
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.end();
  });

  describe('takes turns', () => {
    it('in order, and tells those who wait why', async () => {
      const port = await start({ limits: { noticeAfterMs: 20 } });
      const [a, b, c] = [
        await connect(port, { application_name: 'holder' }),
        await connect(port),
        await connect(port),
      ];
      const order: string[] = [];
      await a.run('begin');
      const told = once(b.pg, 'notice');
      const waiting = [
        b.run('select 1').then(() => order.push('b')),
        c.run('select 1').then(() => order.push('c')),
      ];
      const [{ message }] = await told;
      expect(message).toMatch(
        /^waiting for the end of the transaction of "holder" at 127\.0\.0\.1:\d+$/,
      );
      expect(order).toEqual([]);
      await a.run('commit');
      await Promise.all(waiting);
      expect(order).toEqual(['b', 'c']);
    });

    it('with the statements of its own process, which never come into a transaction', async () => {
      const port = await start();
      const a = await connect(port);
      await a.run(`begin; set search_path = nowhere; create temp table own (x int)`);
      const own = port.db.query<{ path: string }>(`select current_setting('search_path') as path`);
      await a.run(`insert into public.jobs (kind, payload) values ('a', '{}')`);
      await a.run('commit');
      expect((await own).rows[0]!.path).toBe('"$user", public');
      await expect(port.db.query('select * from own')).rejects.toMatchObject({ sqlstate: '42P01' });
      expect(await a.one('show search_path')).toBe('nowhere');
      await a.run('insert into own values (1)');
    });

    it('and says when a client has written', async () => {
      let written = 0;
      const port = await start({
        onWrite: () => {
          written += 1;
        },
      });
      const a = await connect(port);
      await a.run('select 1; show timezone');
      expect(written).toBe(0);
      await a.rows('insert into jobs (kind, payload) values ($1, $2)', ['a', '{}']);
      expect(written).toBe(1);
      await a.run('begin');
      await a.run('update jobs set max_attempts = 5');
      expect(written).toBe(1);
      await a.run('commit');
      expect(written).toBe(2);
      await a.run(
        `create function f() returns void language sql as $$ insert into jobs (kind, payload) values ('a', '{}') $$`,
      );
      await a.rows('select f()');
      expect(written).toBe(3);
    });

    it('and passes on what its own process notifies of', async () => {
      const port = await start();
      const a = await connect(port);
      await a.run('listen jobs');
      const told = once(a.pg, 'notification');
      await port.db.query(`select pg_notify('jobs', 'from the drainer')`);
      expect((await told)[0]).toMatchObject({ channel: 'jobs', payload: 'from the drainer' });
    });

    it('and a person reads who holds it up', async () => {
      const port = await start({ limits: { warnAfterMs: 20 } });
      const [a, b] = [await connect(port, { application_name: 'idler' }), await connect(port)];
      await a.run('begin');
      const waiting = b.one('select 1');
      await expect
        .poll(() => port.warnings)
        .toEqual([
          expect.stringMatching(
            /^"idler" at 127\.0\.0\.1:\d+ has an open transaction and has done nothing for \d+ ms, and 1 wait for it$/,
          ),
        ]);
      await a.run('rollback');
      expect(await waiting).toBe(1);
    });

    it('but not for ever', async () => {
      const port = await start({ limits: { idleInTransactionMs: 100 } });
      const [a, b] = [await connect(port, { application_name: 'idler' }), await connect(port)];
      await a.run('begin');
      await a.run(`insert into jobs (kind, payload) values ('idle', '{}')`);
      const ended = once(a.pg, 'error');
      expect(await b.one('select count(*)::int from jobs')).toBe(0);
      expect((await ended)[0].code).toBe('25P03');
      expect(port.warnings).toEqual([
        expect.stringMatching(/^"idler" at .* was ended: it had left a transaction open/),
      ]);
    });

    it("at a client's own limit, also when nobody waits", async () => {
      const a = await connect(await start());
      await a.run(`set idle_in_transaction_session_timeout = 50`);
      const ended = once(a.pg, 'error');
      await a.run('begin');
      expect((await ended)[0].code).toBe('25P03');
    });
  });

  describe('stops a statement', () => {
    it('that runs over the limit of its client', async () => {
      const port = await start({ dataDir: onDirectory() });
      const [a, b] = [await connect(port), await connect(port)];
      await a.run('create table kept (x int)');
      await a.run(`set statement_timeout = '1s'; set work_mem = '3MB'`);
      await a.pg.query({ name: 'p', text: 'insert into kept values ($1)', values: [1] });
      await b.pg.query({ name: 'p', text: 'select $1::text', values: ['b'] });
      const waiting = new Promise<unknown>((resolve) => {
        setImmediate(() => resolve(b.one('select count(*)::int from kept')));
      });
      expect(await a.code(LONG)).toBe('57014');
      expect(await waiting).toBe(1);
      expect(await a.one('show work_mem')).toBe('3MB');
      await a.pg.query({ name: 'p', text: 'insert into kept values ($1)', values: [2] });
      expect(
        (await b.pg.query({ name: 'p', text: 'select $1::text', values: ['c'] })).rows,
      ).toEqual([{ text: 'c' }]);
      expect((await port.db.query('select x from kept order by x')).rows).toEqual([
        { x: 1 },
        { x: 2 },
      ]);
      // In a transaction, all of it has failed.
      await a.run('begin');
      await a.run('insert into kept values (3)');
      expect(await a.code(LONG)).toBe('57014');
      expect(await a.code('select 1')).toBe('25P02');
      await a.run('rollback');
      expect(await a.one('select count(*)::int from kept')).toBe(2);
      expect(await a.code(LONG, [])).toBe('57014');
      expect(await a.one('select 1')).toBe(1);
    });

    it('that is cancelled', async () => {
      const port = await start({ dataDir: onDirectory(), limits: { cancelGraceMs: 50 } });
      const [a, b] = [await connect(port), await connect(port)];
      const cancel = (client: Client) => {
        const {
          processID,
          secretKey,
          host,
          port: at,
        } = client.pg as unknown as Record<string, number> & { host: string };
        const socket = connectSocket(at!, host);
        const bytes = Buffer.alloc(16);
        for (const [i, value] of [16, 80877102, processID!, secretKey!].entries())
          bytes.writeInt32BE(value, 4 * i);
        socket.end(bytes);
        return once(socket.resume(), 'close');
      };
      const running = a.code(LONG);
      const waiting = b.code(LONG);
      await cancel(b);
      expect(await waiting).toBe('57014');
      await cancel(a);
      expect(await running).toBe('57014');
      expect(await a.one('select 1')).toBe(1);
      // One that waits for a lock.
      await a.rows('select pg_advisory_lock(1)');
      const locked = b.code('select pg_advisory_lock(1)');
      await a.run('select 1');
      await a.rows('select pg_cancel_backend($1)', [
        (b.pg as unknown as { processID: number }).processID,
      ]);
      expect(await locked).toBe('57014');
      await cancel(a);
      expect(await a.one('select 1')).toBe(1);
    });

    it("over the port's own limit, and ends who cannot go on", async () => {
      const port = await start({ dataDir: onDirectory(), limits: { statementMs: 2_000 } });
      const [a, b, c] = [await connect(port), await connect(port), await connect(port)];
      await b.run('create temp table gone (x int)');
      await c.rows('select pg_advisory_lock(3)');
      await c.run('listen still');
      const ended = once(b.pg, 'error');
      expect(await a.code(LONG)).toBe('57014');
      expect(await a.one('select pg_try_advisory_lock(3)')).toBe(false);
      expect((await ended)[0].code).toBe('57P02');
      const told = once(c.pg, 'notification');
      await a.run('notify still');
      await told;
    });

    it('only where that loses nothing', async () => {
      const port = await start({ limits: { statementMs: 100 } });
      const a = await connect(port, { application_name: 'slow' });
      expect(await a.code('select pg_sleep(0.3)')).toBeUndefined();
      expect(port.warnings).toEqual([
        expect.stringMatching(/^"slow" at .*: a statement runs over its limit, and goes on/),
      ]);
    });
  });

  describe('refuses', () => {
    it('what the engine would not outlive', async () => {
      const port = await start();
      const a = await connect(port);
      for (const sql of [
        `copy jobs to program 'cat'`,
        `copy (select 1) to program 'cat'`,
        `COPY jobs FROM PROGRAM 'true'`,
        `copy jobs from '/etc/passwd'`,
        'create database other',
        'select 1; create database other',
      ]) {
        expect([sql, await a.code(sql)]).toEqual([sql, '0A000']);
      }
      expect(await a.code('create database other', [])).toBe('0A000');
      expect(await a.code(`set client_encoding = 'LATIN1'`)).toBe('0A000');
      expect(await a.code(`select convert_to('ü', 'LATIN1')`)).toBe('42883');
      expect(await a.one(`select convert_from(convert_to('ü', 'UTF8'), 'UTF8')`)).toBe('ü');
      expect(await a.one('select 1')).toBe(1);
    });

    it("the 101st client, in the protocol's own words", async () => {
      const port = await start();
      const all = await Promise.all(Array.from({ length: 100 }, () => connect(port)));
      const refused = await Client.connect(port.url).catch((error) => error);
      expect(refused).toMatchObject({ code: '53300', severity: 'FATAL' });
      expect(await Promise.all(all.map((client, i) => client.one(`select ${i}`)))).toEqual(
        all.map((_, i) => i),
      );
      await all[0]!.end();
      await expect.poll(() => port.server.clients).toBe(99);
      await connect(port);
    });

    it('to let a deadly statement take more than its client', async () => {
      const port = await start({ dataDir: onDirectory() });
      const [a, b] = [await connect(port), await connect(port)];
      await a.run('create table kept (x int); insert into kept values (1)');
      await a.run(`create function deadly() returns void language plpgsql as $$
                   begin execute 'copy kept to program ''cat'''; end $$`);
      const code = await a.code('select deadly()');
      expect(await b.one('select x from kept')).toBe(1);
      expect((await port.db.query('select x from kept')).rows).toEqual([{ x: 1 }]);
      // The engine may answer with an error, or end.
      if (code === '57P02') expect(port.warnings.join()).toContain('ended the database engine');
      else expect(code).toMatch(/^.{5}$/);
    });

    it('a lock that could never be given, in a transaction that has done something', async () => {
      const port = await start();
      const [a, b] = [await connect(port), await connect(port)];
      await a.rows('select pg_advisory_lock(5)');
      await b.run('begin');
      await b.run(`insert into jobs (kind, payload) values ('a', '{}')`);
      const error = await b.pg.query('select pg_advisory_xact_lock(5)').catch((e) => e);
      expect(error).toMatchObject({ code: '40P01', hint: expect.stringContaining('first thing') });
      await b.run('rollback');
    });
  });

  describe('keeps', () => {
    it("a sequence's last value apart from the first time that it is asked for", async () => {
      const port = await start();
      const [a, b] = [await connect(port), await connect(port)];
      await a.run('create table s (id serial)');
      await a.run('insert into s default values');
      await b.run('insert into s default values');
      // Which value was a's, nobody had noted.
      expect(await a.code('select lastval()')).toBe('40001');
      await a.run('insert into s default values');
      await b.run('insert into s default values');
      expect(await a.one('select lastval()')).toBe('3');
      expect(await b.one('select lastval()')).toBe('4');
    });

    it('nothing of a client that is gone', async () => {
      const port = await start();
      const a = await connect(port);
      await a.run(`prepare p as select 1; declare c cursor with hold for select 1; create temp table t (x int);
                   set work_mem = '1MB'; set role pg_monitor`);
      await a.pg.query({ name: 'q', text: 'select 1' });
      await a.rows('select pg_advisory_lock(1)');
      await a.end();
      await expect.poll(() => port.server.clients).toBe(0);
      const { rows } = await port.db.query(
        `select (select count(*) from pg_prepared_statements where name like 'jobq_c%') as prepared,
                (select count(*) from pg_cursors where name <> '') as cursors,
                (select count(*) from pg_class where relpersistence = 't') as temporary,
                (select count(*) from pg_locks where locktype = 'advisory') as locks,
                current_setting('work_mem') as work_mem, current_user::text as who`,
      );
      expect(rows).toEqual([
        {
          prepared: '0',
          cursors: '0',
          temporary: '0',
          locks: '0',
          work_mem: '4MB',
          who: 'postgres',
        },
      ]);
    });
  });
});
