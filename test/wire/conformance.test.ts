/** What a client may expect of a server: the same on the port and on Postgres. */
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Client, SERVERS, type TestServer } from './servers.js';

describe.each(SERVERS)('%s', (_name, start) => {
  let server: TestServer;
  const clients: Client[] = [];
  const connect = async (more = {}) => {
    const client = await Client.connect(server.url, more);
    clients.push(client);
    return client;
  };
  const two = () => Promise.all([connect(), connect()]);
  beforeAll(async () => {
    server = await start();
    const client = await Client.connect(server.url);
    await client.run('create table t (id serial primary key, x text)');
    await client.end();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end()));
  });
  afterAll(() => server.close());

  describe('statements', () => {
    it('answers by the simple and by the extended protocol', async () => {
      const a = await connect();
      expect(await a.one('select 1 + 1')).toBe(2);
      expect(await a.one('select $1::text || $2', ['a', 'b'])).toBe('ab');
      expect(await a.rows('select i, i * i from generate_series(1, 3) i')).toEqual([
        [1, 1],
        [2, 4],
        [3, 9],
      ]);
      expect(await a.code('selec')).toBe('42601');
      expect(await a.code('select $1::int', ['x'])).toBe('22P02');
      expect(await a.one('select 3')).toBe(3);
      await a.run('');
      await a.run('-- nothing');
    });

    it('runs several statements of one text in one transaction', async () => {
      const a = await connect();
      await a.run('create table several (x int)');
      expect(await a.code('insert into several values (1); select 1/0; select 2')).toBe('22012');
      expect(await a.one('select count(*)::int from several')).toBe(0);
      const results = await a.pg.query('insert into several values (1), (2); select 3 as three');
      expect(
        (results as unknown as { command: string; rowCount: number }[]).map(
          ({ command, rowCount }) => [command, rowCount],
        ),
      ).toEqual([
        ['INSERT', 2],
        ['SELECT', 1],
      ]);
    });

    it('passes large values and results', async () => {
      const a = await connect();
      const text = 'ü'.repeat(3_000_000);
      expect(await a.one('select length($1::text)', [text])).toBe(3_000_000);
      expect(await a.one('select $1::text', [text])).toBe(text);
      const rows = await a.rows(`select i, repeat('x', 100) from generate_series(1, 50000) i`);
      expect(rows.length).toBe(50_000);
      expect(rows[49_999]![0]).toBe(50_000);
    });

    it('passes notices, and the level that is asked for', async () => {
      const a = await connect();
      const notices: string[] = [];
      a.pg.on('notice', ({ message }) => notices.push(message!));
      await a.run(`do $$ begin raise notice 'one'; raise info 'two'; end $$`);
      await a.run('set client_min_messages = warning');
      await a.run(`do $$ begin raise notice 'three'; raise warning 'four'; end $$`);
      expect(notices).toEqual(['one', 'two', 'four']);
    });

    it('passes the parts of an error', async () => {
      const a = await connect();
      await a.run('create table checked (x int constraint positive check (x > 0))');
      const error = await a.pg.query('insert into checked values (-1)').catch((e) => e);
      expect(error).toMatchObject({ code: '23514', constraint: 'positive', table: 'checked' });
      expect((await a.pg.query('select * from nowhere').catch((e) => e)).position).toBe('15');
    });
  });

  describe('transactions', () => {
    it('commits, rolls back, and refuses what follows an error', async () => {
      const [a, b] = await two();
      const count = () => b.one(`select count(*)::int from t where x = 'tx'`);
      await a.run('begin');
      await a.run(`insert into t (x) values ('tx')`);
      await a.run('rollback');
      expect(await count()).toBe(0);
      await a.run('begin');
      await a.run(`insert into t (x) values ('tx')`);
      await a.run('savepoint s');
      expect(await a.code('select 1/0')).toBe('22012');
      expect(await a.code('select 1')).toBe('25P02');
      await a.run('rollback to s');
      await a.run('commit');
      expect(await count()).toBe(1);
      await a.run('begin');
      expect(await a.code('select 1/0')).toBe('22012');
      expect((await a.pg.query('commit')).command).toBe('ROLLBACK');
      expect(await a.one('select 1')).toBe(1);
    });

    it('keeps another client out of an open transaction', async () => {
      const [a, b] = await two();
      await a.run('begin');
      await a.run(`insert into t (x) values ('mine')`);
      const other = b.run(`update t set x = 'theirs' where x = 'mine'`);
      expect(await a.one(`select x from t where x in ('mine', 'theirs')`)).toBe('mine');
      await a.run('commit');
      await other;
    });

    it('rolls back for a client that vanishes', async () => {
      const [a, b] = await two();
      await a.run('begin');
      await a.run(`insert into t (x) values ('vanished')`);
      a.vanish();
      await b.run('lock table t in access exclusive mode').catch(() => {});
      await b.run('begin');
      await b.run('lock table t in access exclusive mode');
      expect(await b.one(`select count(*)::int from t where x = 'vanished'`)).toBe(0);
      await b.run('commit');
    });
  });

  describe('prepared statements', () => {
    it('belong to a client, by the protocol and by SQL', async () => {
      const [a, b] = await two();
      const ask = async (client: Client, text: string, values: unknown[]) =>
        (await client.pg.query({ name: 's1', text, values, rowMode: 'array' })).rows[0]?.[0];
      expect(await ask(a, 'select $1::int + 1', [1])).toBe(2);
      expect(await ask(b, 'select $1::text || 2', ['1'])).toBe('12');
      expect(await ask(a, 'select $1::int + 1', [5])).toBe(6);
      await a.run(`prepare s2 (int) as select $1 * 2`);
      await b.run(`prepare S2 as select 'b'`);
      expect(await a.one('execute s2 (4)')).toBe(8);
      expect(await b.one('execute "s2"')).toBe('b');
      expect(await a.one('explain execute s2 (4)')).toContain('Result');
      expect(await a.code('prepare s2 as select 1')).toBe('42P05');
      await a.run('deallocate s2');
      expect(await a.code('execute s2 (4)')).toBe('26000');
      expect(await b.one('execute s2')).toBe('b');
      await a.run('prepare s2 as select 5; execute s2');
      await a.run('deallocate all');
      expect(await a.code('execute s2')).toBe('26000');
      expect(await b.one('execute s2')).toBe('b');
      expect(await ask(b, 'select $1::text || 2', ['1'])).toBe('12');
    });

    it('are called in errors as the client calls them', async () => {
      const a = await connect();
      await a.run('prepare mine as select 1');
      const error = await a.pg.query('prepare mine as select 2').catch((e) => e);
      expect(error.message).toBe('prepared statement "mine" already exists');
      const missing = await a.pg.query('execute nobodys').catch((e) => e);
      expect(missing.message).toBe('prepared statement "nobodys" does not exist');
    });

    it('outlive a failed transaction, and see a changed table', async () => {
      const a = await connect();
      await a.run('begin; prepare p as select * from t limit 0');
      await a.run('rollback');
      await a.run('create table moved (x int)');
      await a.run('prepare q as insert into moved values (1)');
      await a.run('execute q; alter table moved add column y int default 7; execute q');
      expect(await a.rows('select x, y from moved')).toEqual([
        [1, 7],
        [1, 7],
      ]);
      await a.run('execute p');
    });
  });

  describe('settings', () => {
    it('belong to a client', async () => {
      const [a, b] = await two();
      const zone = (client: Client) => client.one('show timezone');
      const before = await zone(b);
      await a.run(`set timezone = 'Asia/Tokyo'`);
      expect(await zone(b)).toBe(before);
      expect(await zone(a)).toBe('Asia/Tokyo');
      await b.run(`set session timezone to 'America/Lima'`);
      expect(await zone(a)).toBe('Asia/Tokyo');
      expect(await zone(b)).toBe('America/Lima');
      await a.run('reset timezone');
      expect(await zone(a)).toBe(before);
      expect(await zone(b)).toBe('America/Lima');
      await b.run('reset all');
      expect(await zone(b)).toBe(before);
    });

    it('follow their transaction', async () => {
      const [a, b] = await two();
      const show = (client: Client) => client.one('show work_mem');
      const before = await show(b);
      await a.run(`begin; set work_mem = '1MB'`);
      await a.run('rollback');
      expect(await show(a)).toBe(before);
      await a.run(`begin; set local work_mem = '1MB'`);
      expect(await show(a)).toBe('1MB');
      await a.run('commit');
      expect(await show(a)).toBe(before);
      await a.run(`begin; set work_mem = '1MB'; commit`);
      expect([await show(a), await show(b), await show(a)]).toEqual(['1MB', before, '1MB']);
    });

    it("can be the app's own, and be set by a function", async () => {
      const [a, b] = await two();
      const get = (client: Client) =>
        client.one(`select nullif(current_setting('app.tenant', true), '')`);
      await a.run(`set app.tenant = 'ada'`);
      expect([await get(b), await get(a)]).toEqual([null, 'ada']);
      await b.rows(`select set_config('app.tenant', $1, false)`, ['bob']);
      expect([await get(a), await get(b), await get(a)]).toEqual(['ada', 'bob', 'ada']);
      await a.run('begin');
      await a.rows(`select set_config('app.tenant', 'eve', true)`);
      expect(await get(a)).toBe('eve');
      await a.run('commit');
      expect([await get(a), await get(b)]).toEqual(['ada', 'bob']);
      await a.run(`create function act_as(who text) returns void language plpgsql as $$
                   begin execute format('set app.tenant = %L', who); set datestyle = 'German'; end $$`);
      await a.rows(`select act_as('mallory')`);
      expect(await b.one('show datestyle')).toBe('ISO, MDY');
      expect(await a.one('show datestyle')).toBe('German, DMY');
    });

    it('can name a path that only this client looks along', async () => {
      const [a, b] = await two();
      await a.run('create schema apart; create table apart.only_there (x int)');
      await a.run('set search_path = apart, public');
      expect(await b.code('select * from only_there')).toBe('42P01');
      expect(await a.code('select * from only_there')).toBeUndefined();
      expect(await b.one('show search_path')).toBe('"$user", public');
    });

    it('of the start are what RESET goes back to', async () => {
      const a = await connect({
        application_name: 'starter',
        options: '-c work_mem=2MB -c datestyle=SQL\\ ,DMY --lock-timeout=0',
      });
      const b = await connect();
      expect(await a.one('show work_mem')).toBe('2MB');
      expect(await a.one('show datestyle')).toBe('SQL, DMY');
      await a.run('set work_mem = 4096; set application_name = other');
      expect([await b.one('show work_mem'), await a.one('show work_mem')]).toEqual(['4MB', '4MB']);
      await a.run('reset work_mem');
      expect([await b.one('show work_mem'), await a.one('show work_mem')]).toEqual(['4MB', '2MB']);
      await a.run('reset all');
      expect(await a.one('show application_name')).toBe('starter');
      const reported: string[] = [];
      const { connection } = a.pg as unknown as { connection: NodeJS.EventEmitter };
      connection.on('parameterStatus', ({ parameterName, parameterValue }) =>
        reported.push(`${parameterName}=${parameterValue}`),
      );
      await a.run(`set application_name = 'b'`);
      await a.run('reset all');
      await a.run('select 1');
      expect(reported).toEqual(['application_name=b', 'application_name=starter']);
    });

    it('refuses a client that begins with what cannot be set', async () => {
      const refused = (options: string) => connect({ options }).catch((error) => error.code);
      expect(await refused('-c nonsense_setting=1')).toBe('42704');
      expect(await refused('-c work_mem=lots')).toBe('22023');
    });

    it('are reported when they change', async () => {
      const a = await connect();
      const reported: [string, string][] = [];
      const { connection } = a.pg as unknown as { connection: NodeJS.EventEmitter };
      connection.on('parameterStatus', ({ parameterName, parameterValue }) =>
        reported.push([parameterName, parameterValue]),
      );
      await a.run(`set timezone = 'Asia/Tokyo'`);
      await (await connect()).run('select 1');
      await a.run(`set application_name = 'renamed'`);
      expect(reported).toEqual([
        ['TimeZone', 'Asia/Tokyo'],
        ['application_name', 'renamed'],
      ]);
    });

    it('can be a role', async () => {
      const [a, b] = await two();
      const who = (client: Client) => client.one('select current_user::text');
      const superuser = await who(a);
      await a.run('create role clerk; grant select on t to clerk');
      await a.run('set role clerk');
      expect([await who(b), await who(a)]).toEqual([superuser, 'clerk']);
      expect(await a.code('delete from t')).toBe('42501');
      expect(await b.code('delete from t where false')).toBeUndefined();
      await a.run('reset role');
      await a.run('set session authorization clerk');
      expect([await who(b), await who(a)]).toEqual([superuser, 'clerk']);
      expect(await a.code('delete from t')).toBe('42501');
      await a.run('reset session authorization');
      expect(await who(a)).toBe(superuser);
      await a.run('revoke all on t from clerk; drop role clerk');
    });
  });

  describe('temporary tables', () => {
    it('belong to a client, with all that is theirs', async () => {
      const [a, b] = await two();
      await a.run(`create temp table tmp (id serial primary key, x text unique)`);
      await a.run(`insert into tmp (x) values ('a')`);
      expect(await b.code('select * from tmp')).toBe('42P01');
      await b.run(`create temporary table tmp as select 'b' as y`);
      await b.run('create temp view tmp_view as select * from tmp');
      expect(await a.rows('insert into tmp (x) values ($1) returning id, x', ['a2'])).toEqual([
        [2, 'a2'],
      ]);
      expect(await b.rows('select * from tmp_view')).toEqual([['b']]);
      expect(await a.code(`insert into tmp (x) values ('a')`)).toBe('23505');
      expect(await a.code('select * from tmp_view')).toBe('42P01');
      await a.run('drop table tmp');
      expect(await a.code('select * from tmp')).toBe('42P01');
      expect(await b.rows('select * from tmp')).toEqual([['b']]);
    });

    it('are found by statements that were prepared', async () => {
      const [a, b] = await two();
      await a.run('create temp table held (x int)');
      const insert = { name: 'insert-held', text: 'insert into held values ($1)' };
      await a.pg.query({ ...insert, values: [1] });
      await b.run('create temp table held (x text)');
      await a.pg.query({ ...insert, values: [2] });
      expect(await a.rows('select * from held')).toEqual([[1], [2]]);
    });

    it('hide a table of the same name, for one client', async () => {
      const [a, b] = await two();
      await a.run('create table hidden (x int); insert into hidden values (1)');
      await a.run('create temp table hidden (x int); insert into hidden values (2)');
      expect([await a.one('select x from hidden'), await b.one('select x from hidden')]).toEqual([
        2, 1,
      ]);
      await a.run('discard temp');
      expect(await a.one('select x from hidden')).toBe(1);
    });

    it('end with their transaction or with their client', async () => {
      const [a, b] = await two();
      await a.run('begin; create temp table short (x int) on commit drop; commit');
      expect(await a.code('select * from short')).toBe('42P01');
      await a.run('create temp table emptied (x int) on commit delete rows');
      await a.run('insert into emptied values (1)');
      expect(await a.one('select count(*)::int from emptied')).toBe(0);
      await a.run('create temp table until_end (x int)');
      await b.run('select 1');
      await a.end();
      const leftovers = `select count(*)::int from pg_class
        where relpersistence = 't' and relkind = 'r' and relname ~ 'until_end|jobq'`;
      // The server's own end of a client comes a moment later.
      while ((await b.one(leftovers)) !== 0) await b.run('select 1');
    });
  });

  describe('notifications', () => {
    const heard = (client: Client) => {
      const all: string[] = [];
      client.pg.on('notification', ({ channel, payload }) => all.push(`${channel}:${payload}`));
      return all;
    };

    it('go to those who listen', async () => {
      const [a, b, c] = [await connect(), await connect(), await connect()];
      const [forA, forB, forC] = [a, b, c].map(heard);
      await a.run('listen news');
      await b.run('listen "News Of The Day"; listen other');
      const arrived = once(a.pg, 'notification');
      await c.run(`notify news, 'hello'; notify other, 'ü'`);
      const [message] = await arrived;
      expect(message.processId).toBe((c.pg as unknown as { processID: number }).processID);
      await c.rows(`select pg_notify('News Of The Day', 'late')`);
      await Promise.all([a.run('select 1'), b.run('select 1')]);
      expect(forA).toEqual(['news:hello']);
      expect(forB).toEqual(['other:ü', 'News Of The Day:late']);
      expect(forC).toEqual([]);
    });

    it('wait for the commit, and go when it fails', async () => {
      const [a, b] = await two();
      const forA = heard(a);
      await a.run('listen n');
      await b.run(`begin; notify n, '1'`);
      await b.run('rollback');
      await b.run(`begin; notify n, '2'`);
      const arrived = once(a.pg, 'notification');
      await b.run('commit');
      await arrived;
      expect(forA).toEqual(['n:2']);
    });

    it('stop with UNLISTEN, for one client', async () => {
      const [a, b] = await two();
      const [forA, forB] = [heard(a), heard(b)];
      await a.run('listen x; listen y');
      await b.run('listen x; listen y');
      await a.run('unlisten x');
      await b.run('begin; unlisten *');
      await b.run('rollback');
      const c = await connect();
      const arrived = once(a.pg, 'notification');
      await c.run('notify x; notify y');
      await arrived;
      await b.run('select 1');
      expect(forA).toEqual(['y:']);
      expect(forB).toEqual(['x:', 'y:']);
    });

    it('reach the client itself before the answer is over', async () => {
      const a = await connect();
      const forA = heard(a);
      await a.run(`begin; listen me; notify me, 'self'; commit`);
      expect(forA).toEqual(['me:self']);
    });
  });

  describe('advisory locks', () => {
    it('exclude each other between clients', async () => {
      const [a, b] = await two();
      const attempt = (client: Client) => client.one('select pg_try_advisory_lock(7)');
      expect([await attempt(a), await attempt(a), await attempt(b)]).toEqual([true, true, false]);
      expect(await b.one('select pg_try_advisory_lock(7, 0)')).toBe(true);
      expect(await b.one('select pg_advisory_unlock(7)')).toBe(false);
      expect(await a.one('select pg_advisory_unlock(7)')).toBe(true);
      expect(await attempt(b)).toBe(false);
      expect(await a.one('select pg_advisory_unlock(7)')).toBe(true);
      expect(await attempt(b)).toBe(true);
      await b.rows('select pg_advisory_unlock_all()');
      expect(await attempt(a)).toBe(true);
    });

    it('can be shared', async () => {
      const [a, b] = await two();
      expect(await a.one('select pg_try_advisory_lock_shared(8)')).toBe(true);
      expect(await b.one('select pg_try_advisory_lock_shared(8)')).toBe(true);
      expect(await b.one('select pg_try_advisory_lock(8)')).toBe(false);
      await a.rows('select pg_advisory_unlock_shared(8)');
      expect(await b.one('select pg_try_advisory_lock(8)')).toBe(true);
    });

    it('are waited for', async () => {
      const [a, b] = await two();
      await a.rows('select pg_advisory_lock(9)');
      let got = false;
      const waiting = b.rows('select pg_advisory_lock(9)').then(() => {
        got = true;
      });
      await a.run('select 1');
      expect(got).toBe(false);
      await a.rows('select pg_advisory_unlock(9)');
      await waiting;
      expect(await a.one('select pg_try_advisory_lock(9)')).toBe(false);
    });

    it('are waited for at the beginning of a transaction', async () => {
      const [a, b] = await two();
      await a.rows('select pg_advisory_lock(10)');
      await b.run('begin');
      const waiting = b.rows('select pg_advisory_xact_lock($1)', [10]);
      await a.rows(`insert into t (x) values ('locked')`);
      await a.rows('select pg_advisory_unlock(10)');
      await waiting;
      await b.run(`set local work_mem = '1MB'`);
      expect(await b.one(`select count(*)::int from t where x = 'locked'`)).toBe(1);
      await b.run('commit');
      expect(await a.one('select pg_try_advisory_lock(10)')).toBe(true);
    });

    it('outlive a rollback, and end with their client', async () => {
      const [a, b] = await two();
      await a.run('begin');
      await a.rows('select pg_advisory_lock(11)');
      await a.run('rollback');
      expect(await b.one('select pg_try_advisory_lock(11)')).toBe(false);
      const waiting = b.rows('select pg_advisory_lock(11)');
      a.vanish();
      await waiting;
    });

    it('of a transaction end with it', async () => {
      const [a, b] = await two();
      await a.run('begin');
      expect(await a.one('select pg_try_advisory_xact_lock(12)')).toBe(true);
      await a.run('commit');
      expect(await b.one('select pg_try_advisory_lock(12)')).toBe(true);
      expect(await a.one('select pg_try_advisory_xact_lock(12)')).toBe(false);
    });

    it('that wait for each other are a deadlock', async () => {
      const [a, b] = await two();
      await a.rows('select pg_advisory_lock(13)');
      await b.rows('select pg_advisory_lock(14)');
      const attempt = async (client: Client, key: number) => {
        const code = await client.code(`select pg_advisory_lock(${key})`);
        if (code !== undefined) await client.rows('select pg_advisory_unlock_all()');
        return code;
      };
      const codes = await Promise.all([attempt(a, 14), attempt(b, 13)]);
      expect(codes.sort()).toEqual(['40P01', undefined]);
    });

    it('are given up after lock_timeout', async () => {
      const [a, b] = await two();
      await a.rows('select pg_advisory_lock(15)');
      await b.run(`set lock_timeout = '50ms'`);
      expect(await b.code('select pg_advisory_lock(15)')).toBe('55P03');
      expect(await b.one('select 1')).toBe(1);
    });
  });

  describe('a client', () => {
    it('has a process id of its own', async () => {
      const [a, b] = await two();
      const [pidA, pidB] = [
        await a.one('select pg_backend_pid()'),
        await b.one('select pg_backend_pid()'),
      ];
      expect(pidA).not.toBe(pidB);
      expect(pidA).toBe((a.pg as unknown as { processID: number }).processID);
      await a.run('begin');
      expect(await a.one('select pg_backend_pid()')).toBe(pidA);
      await a.run('rollback');
      expect(await b.one('select pg_backend_pid()')).toBe(pidB);
      await a.run('create view my_pid as select pg_backend_pid() as pid');
      expect([
        await a.one('select pid from my_pid'),
        await b.one('select pid from my_pid'),
      ]).toEqual([pidA, pidB]);
    });

    it('can be ended by another', async () => {
      const [a, b] = await two();
      const pid = await a.one('select pg_backend_pid()');
      const ended = once(a.pg, 'error');
      expect(await b.one('select pg_terminate_backend($1)', [pid])).toBe(true);
      expect((await ended)[0].code).toBe('57P01');
      expect(await b.one('select 1')).toBe(1);
    });

    it('has sequences of its own', async () => {
      const [a, b] = await two();
      const insert = (client: Client) => client.one(`insert into t (x) values ('s') returning id`);
      expect(await a.code('select lastval()')).toBe('55000');
      const first = await insert(a);
      expect(Number(await a.one('select lastval()'))).toBe(first);
      const second = await insert(b);
      expect(Number(await a.one('select lastval()'))).toBe(first);
      expect(Number(await a.one(`select currval('t_id_seq')`))).toBe(first);
      expect(Number(await b.one(`select currval('t_id_seq')`))).toBe(second);
      const third = await insert(a);
      expect(Number(await b.one('select lastval()'))).toBe(second);
      expect(Number(await a.one('select lastval()'))).toBe(third);
    });

    it('can begin anew with DISCARD ALL', async () => {
      const [a, b] = await two();
      await a.run(
        `prepare d as select 1; set work_mem = '1MB'; create temp table d (x int); listen d`,
      );
      await a.rows('select pg_advisory_lock(20)');
      await b.run(`prepare d as select 2; create temp table d (x int); listen d`);
      expect(await a.code('begin; discard all')).toBe('25001');
      await a.run('rollback');
      expect((await a.pg.query('discard all')).command).toBe('DISCARD');
      expect(await a.code('execute d')).toBe('26000');
      expect(await a.code('select * from d')).toBe('42P01');
      expect(await a.one('show work_mem')).toBe('4MB');
      expect(await b.one('select pg_try_advisory_lock(20)')).toBe(true);
      expect(await b.one('execute d')).toBe(2);
      expect(await b.code('select * from d')).toBeUndefined();
      const arrived = once(b.pg, 'notification');
      await a.run('notify d');
      await arrived;
    });

    it('has cursors of its own', async () => {
      const [a, b] = await two();
      await a.run('declare c cursor with hold for select * from generate_series(1, 5)');
      await b.run('declare c cursor with hold for select * from generate_series(11, 15)');
      expect(await a.rows('fetch 2 from c')).toEqual([[1], [2]]);
      expect(await b.rows('fetch next from c')).toEqual([[11]]);
      await a.run('move 1 in c');
      expect(await a.rows('fetch c')).toEqual([[4]]);
      await b.run('close all');
      expect(await b.code('fetch c')).toBe('34000');
      expect(await a.rows('fetch forward 9 from c')).toEqual([[5]]);
      await a.run('close c');
      expect(await a.code('fetch c')).toBe('34000');
      await a.run('begin; declare c cursor for select * from t for update');
      await a.run('fetch c');
      await a.run('update t set x = x where current of c');
      await a.run('commit');
    });
  });
});
