/** The protocol, message by message: the same answers from the port and from Postgres. */
import { afterAll, afterEach, beforeAll, expect, describe as group, it } from 'vitest';
import {
  bind,
  close,
  copyData,
  copyDone,
  copyFail,
  describe,
  execute,
  flush,
  parse,
  query,
  RawClient,
  sync,
} from './raw-client.js';
import { SERVERS, type TestServer } from './servers.js';

group.each(SERVERS)('%s', (_name, start) => {
  let server: TestServer;
  const clients: RawClient[] = [];
  const connect = async () => {
    const client = await RawClient.connect(server.url);
    clients.push(client);
    return client;
  };
  beforeAll(async () => {
    server = await start();
    const client = await connect();
    await client.ask(
      query('create table c (id int, x text, y int generated always as (id) stored)'),
    );
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.end();
  });
  afterAll(() => server.close());

  group('pipelines', () => {
    it('are answered in order, and passed over after an error', async () => {
      const a = await connect();
      expect(
        await a.ask(
          parse('', 'select $1::int'),
          bind('', '', '1'),
          describe('P', ''),
          execute(''),
          bind('', '', '2'),
          execute(''),
          sync,
        ),
      ).toEqual(['1', '2', 'T', 'D 1', 'C SELECT 1', '2', 'D 2', 'C SELECT 1', 'Z I']);
      a.send(
        parse('s', 'select 1/$1::int'),
        bind('', 's', '0'),
        execute(''),
        bind('', 's', '1'),
        execute(''),
        sync,
        bind('', 's', '1'),
        execute(''),
        sync,
      );
      expect(await a.until('Z')).toEqual(['1', 'E 22012', 'Z I']);
      expect(await a.until('Z')).toEqual(['2', 'D 1', 'C SELECT 1', 'Z I']);
    });

    it('are one transaction up to Sync', async () => {
      const a = await connect();
      await a.ask(
        parse('', `insert into c (id) values (100)`),
        bind('', ''),
        execute(''),
        parse('', 'select 1/0'),
        bind('', ''),
        execute(''),
        sync,
      );
      expect(await a.ask(query('select count(*) from c where id = 100'))).toContain('D 0');
    });

    it('give what there is at Flush, and wait for more', async () => {
      const a = await connect();
      const b = await connect();
      a.send(parse('p', 'select $1::int + 1'), describe('S', 'p'), flush);
      expect(await a.until('T')).toEqual(['1', 't', 'T']);
      a.send(bind('', 'p', '4'), execute(''), flush);
      expect(await a.until('C')).toEqual(['2', 'D 5', 'C SELECT 1']);
      a.send(parse('p', 'select 2'), flush);
      expect(await a.until('E')).toEqual(['E 42P05']);
      a.send(bind('', 'p', '4'), execute(''), flush);
      expect(await a.ask(sync)).toEqual(['Z I']);
      expect(await b.ask(query('select 1'))).toContain('D 1');
    });

    it('leave a transaction open that they begin', async () => {
      const a = await connect();
      expect(await a.ask(parse('', 'begin'), bind('', ''), execute(''), sync)).toEqual([
        '1',
        '2',
        'C BEGIN',
        'Z T',
      ]);
      expect(await a.ask(sync)).toEqual(['Z T']);
      expect(await a.ask(query('selec'))).toEqual(['E 42601', 'Z E']);
      expect(await a.ask(sync)).toEqual(['Z E']);
      expect(await a.ask(query('rollback'))).toEqual(['C ROLLBACK', 'Z I']);
      expect(await a.ask(sync)).toEqual(['Z I']);
    });

    it('hold up nobody before they run anything', async () => {
      const a = await connect();
      const b = await connect();
      a.send(parse('early', 'select $1::int'), describe('S', 'early'), flush);
      await a.until('T');
      expect(await b.ask(query('select 1'))).toContain('D 1');
      expect(await a.ask(bind('', 'early', '6'), execute(''), sync)).toEqual([
        '2',
        'D 6',
        'C SELECT 1',
        'Z I',
      ]);
      a.send(parse('', 'selec'), describe('S', ''), flush, bind('', ''), execute(''));
      expect(await a.until('E')).toEqual(['E 42601']);
      expect(await a.ask(sync)).toEqual(['Z I']);
    });

    it('that only prepare need not wait for the transaction of another', async () => {
      const a = await connect();
      const b = await connect();
      await a.ask(query('begin'));
      expect(
        await b.ask(parse('ahead', 'select $1::int + 1'), parse('', 'select 2'), sync),
      ).toEqual(['1', '1', 'Z I']);
      await a.ask(query('commit'));
      expect(
        await b.ask(bind('', ''), execute(''), bind('', 'ahead', '1'), execute(''), sync),
      ).toEqual(['2', 'D 2', 'C SELECT 1', '2', 'D 2', 'C SELECT 1', 'Z I']);
      expect(await b.ask(parse('ahead', 'select 3'), sync)).toEqual(['E 42P05', 'Z I']);
    });

    it('can be long', async () => {
      const a = await connect();
      const many = Array.from({ length: 30_000 }, (_, i) => [
        bind('', 'ins', String(i)),
        execute(''),
      ]);
      a.send(parse('ins', 'insert into c (id) values ($1)'), ...many.flat(), sync);
      const heard = await a.until('Z');
      expect(heard.filter((message) => message === 'C INSERT 0 1').length).toBe(30_000);
      await a.ask(query('delete from c'));
    });
  });

  group('statements and portals', () => {
    it('without a name are the last one parsed, by this client', async () => {
      const a = await connect();
      const b = await connect();
      expect(await a.ask(parse('', `select 'a'`), describe('S', ''), sync)).toEqual([
        '1',
        't',
        'T',
        'Z I',
      ]);
      await b.ask(parse('', `select 'b'`), sync);
      expect(await a.ask(bind('', ''), execute(''), sync)).toContain('D a');
      expect(await b.ask(bind('', ''), execute(''), sync)).toContain('D b');
      expect(await a.ask(parse('', 'selec'), sync)).toEqual(['E 42601', 'Z I']);
      expect(await a.ask(bind('', ''), execute(''), sync)).toEqual(['E 26000', 'Z I']);
      await b.ask(query('select 1'));
      expect(await b.ask(bind('', ''), execute(''), sync)).toEqual(['E 26000', 'Z I']);
    });

    it('can be closed and parsed anew', async () => {
      const a = await connect();
      expect(
        await a.ask(
          parse('n', 'select 1'),
          close('S', 'n'),
          parse('n', 'select 2'),
          bind('', 'n'),
          execute(''),
          sync,
        ),
      ).toEqual(['1', '3', '1', '2', 'D 2', 'C SELECT 1', 'Z I']);
      // What fails in the middle is as it was.
      expect(await a.ask(parse('', 'selec'), close('S', 'n'), sync)).toEqual(['E 42601', 'Z I']);
      expect(await a.ask(bind('', 'n'), execute(''), sync)).toContain('D 2');
      expect(await a.ask(close('S', 'n'), close('S', 'nobody'), sync)).toEqual(['3', '3', 'Z I']);
      expect(await a.ask(bind('', 'n'), sync)).toEqual(['E 26000', 'Z I']);
      expect(await a.ask(parse('m', 'selec'), sync)).toEqual(['E 42601', 'Z I']);
      expect(await a.ask(parse('m', 'select 3'), bind('', 'm'), execute(''), sync)).toContain(
        'D 3',
      );
    });

    it('give rows a few at a time', async () => {
      const a = await connect();
      await a.ask(query('begin'));
      expect(
        await a.ask(
          parse('', 'select generate_series(1, 5)'),
          bind('portal', ''),
          execute('portal', 2),
          execute('portal', 2),
          execute('portal', 2),
          sync,
        ),
      ).toEqual(['1', '2', 'D 1', 'D 2', 's', 'D 3', 'D 4', 's', 'D 5', 'C SELECT 1', 'Z T']);
      expect(await a.ask(query('commit'))).toEqual(['C COMMIT', 'Z I']);
      expect(await a.ask(execute('portal'), sync)).toEqual(['E 34000', 'Z I']);
    });

    it('may be empty', async () => {
      const a = await connect();
      expect(await a.ask(query(''))).toEqual(['I', 'Z I']);
      expect(await a.ask(query(';;'))).toEqual(['I', 'Z I']);
      expect(await a.ask(parse('', ''), bind('', ''), execute(''), sync)).toEqual([
        '1',
        '2',
        'I',
        'Z I',
      ]);
    });
  });

  group('COPY', () => {
    it('takes rows', async () => {
      const a = await connect();
      a.send(query('copy c (id, x) from stdin'));
      expect(await a.until('G')).toEqual(['G 0 2']);
      expect(await a.ask(copyData('1\ta\n2'), copyData('\tb\n'), copyDone)).toEqual([
        'C COPY 2',
        'Z I',
      ]);
      a.send(query('copy c from stdin with (format csv, header)'));
      expect(await a.until('G')).toEqual(['G 0 2']);
      expect(await a.ask(copyData('id,x\n3,c\n'), copyDone)).toEqual(['C COPY 1', 'Z I']);
      a.send(query('begin; truncate c'));
      expect(await a.until('Z')).toEqual(['C BEGIN', 'C TRUNCATE TABLE', 'Z T']);
      a.send(query('copy public.c from stdin (freeze on)'));
      expect(await a.until('G')).toEqual(['G 0 2']);
      expect(await a.ask(copyData('4\td\n'), copyDone)).toEqual(['C COPY 1', 'Z T']);
      await a.ask(query('commit'));
      expect(await a.ask(query('copy c to stdout'))).toEqual([
        'H',
        'd 4\td\n',
        'c',
        'C COPY 1',
        'Z I',
      ]);
    });

    it('is refused, fails, or is broken off', async () => {
      const a = await connect();
      expect(await a.ask(query('copy nowhere from stdin'))).toEqual(['E 42P01', 'Z I']);
      a.send(query('copy c (id, x) from stdin'));
      await a.until('G');
      expect(await a.ask(copyData('x\ty\n'), copyDone)).toEqual(['E 22P02', 'Z I']);
      a.send(query('copy c (id, x) from stdin'));
      await a.until('G');
      expect(await a.ask(copyData('1\ty\n'), copyFail)).toEqual(['E 57014', 'Z I']);
      await a.ask(query('begin'));
      a.send(query('copy c (id, x) from stdin'));
      await a.until('G');
      expect(await a.ask(copyData('1\ty\n'), copyFail)).toEqual(['E 57014', 'Z E']);
      expect(await a.ask(query('copy c from stdin'))).toEqual(['E 25P02', 'Z E']);
      expect(await a.ask(copyData('late'), copyDone, query('rollback'))).toEqual([
        'C ROLLBACK',
        'Z I',
      ]);
    });

    it('comes by the extended protocol', async () => {
      const a = await connect();
      a.send(
        parse('', 'copy c (id, x) from stdin'),
        bind('', ''),
        describe('P', ''),
        execute(''),
        sync,
      );
      expect(await a.until('G')).toEqual(['1', '2', 'n', 'G 0 2']);
      expect(await a.ask(copyData('7\tg\n'), copyDone, sync)).toEqual(['C COPY 1', 'Z I']);
      a.send(parse('', 'copy c (id, x) from stdin'), bind('', ''), execute(''), flush);
      await a.until('G');
      expect(await a.ask(copyData('x\tg\n'), copyDone, sync)).toEqual(['E 22P02', 'Z I']);
      expect(
        await a.ask(parse('', 'copy nowhere from stdin'), bind('', ''), execute(''), sync),
      ).toEqual(['1', '2', 'E 42P01', 'Z I']);
      expect(await a.ask(parse('', 'copy c to stdout'), bind('', ''), execute(''), sync)).toContain(
        'd 7\tg\n',
      );
    });

    it('can stand among other statements', async () => {
      const a = await connect();
      await a.ask(query('truncate c'));
      a.send(query(`insert into c (id) values (1); copy c (id, x) from stdin; select 5`));
      await a.until('G');
      const heard = await a.ask(copyData('8\th\n'), copyDone);
      expect(heard.filter((message) => message !== 'C INSERT 0 1')).toEqual([
        'C COPY 1',
        'T',
        'D 5',
        'C SELECT 1',
        'Z I',
      ]);
      expect(await a.ask(query('select count(*) from c'))).toContain('D 2');
    });
  });

  group('what is malformed', () => {
    it('inside of a message is an error', async () => {
      const a = await connect();
      const broken = Buffer.from('B\0\0\0\x05x', 'latin1');
      expect(await a.ask(broken, sync)).toEqual(['E 08P01', 'Z I']);
      expect(await a.ask(query(`select 'ok'`))).toContain('D ok');
    });

    it('as a message ends the connection', async () => {
      for (const bytes of ['~\0\0\0\x04', 'Q\0\0\0\x03', 'Q\xff\xff\xff\xff', 'S\0\x10\0\0']) {
        const a = await connect();
        a.send(Buffer.from(bytes, 'latin1'));
        // Postgres tells its log why, and the client not always.
        expect((await a.until('Z')).filter((heard) => heard !== 'E 08P01')).toEqual(['closed']);
      }
    });

    it('as text is an error', async () => {
      const a = await connect();
      const invalid = Buffer.from(`Q\0\0\0\x10select '\xff'\0`, 'latin1');
      invalid.writeInt32BE(invalid.length - 1, 1);
      expect(await a.ask(invalid)).toEqual(['E 22021', 'Z I']);
    });
  });
});
