/** postgres.js, which names and keeps its prepared statements, pipelines, and copies. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVERS, type TestServer } from './servers.js';

describe.each(SERVERS)('postgres.js on %s', (_name, start) => {
  let server: TestServer;
  let sql: postgres.Sql;
  beforeAll(async () => {
    server = await start();
    sql = postgres(server.url, { max: 10, onnotice: () => {} });
    await sql`create table copied (id int, x text)`;
  });
  afterAll(async () => {
    await sql.end();
    await server.close();
  });

  it('prepares, inserts many, and reads them in pieces', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => ({ id: i, x: `x${i}` }));
    await sql`create table many (id int, x text)`;
    await sql`insert into many ${sql(rows)}`;
    let read = 0;
    await sql`select * from many`.cursor(100, async (part) => {
      read += part.length;
    });
    expect(read).toBe(1_000);
    expect(await sql`select count(*)::int as n from many where id = any(${[1, 2, 3]})`).toEqual([
      { n: 3 },
    ]);
  });

  it('runs transactions at a time, from a pool', async () => {
    await sql`create table counter (n int)`;
    await sql`insert into counter values (0)`;
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        sql
          .begin(async (tx) => {
            const [row] = await tx`select n from counter for update`;
            await tx`update counter set n = ${row!.n + 1}`;
            if (i % 4 === 3) throw new Error('no');
          })
          .catch(() => {}),
      ),
    );
    expect(await sql`select n from counter`).toEqual([{ n: 30 }]);
  });

  it('pipelines statements of one transaction', async () => {
    const results = await sql.begin((tx) => [
      tx`insert into copied values (0, 'piped')`,
      tx`select count(*)::int as n from copied where x = 'piped'`,
      tx`delete from copied where x = 'piped'`,
    ]);
    expect(results[1]).toEqual([{ n: 1 }]);
  });

  it('copies in, alone and in a transaction, and out', async () => {
    await pipeline(
      Readable.from(['1\ta\n2\tb', '\n3\t\\N\n']),
      await sql`copy copied from stdin`.writable(),
    );
    await sql.begin(async (tx) => {
      await pipeline(
        Readable.from(['4,"d, e"\n']),
        await tx`copy copied (id, x) from stdin with (format csv)`.writable(),
      );
    });
    let out = '';
    for await (const chunk of await sql`copy (select * from copied order by id) to stdout`.readable()) {
      out += chunk;
    }
    expect(out).toBe('1\ta\n2\tb\n3\t\\N\n4\td, e\n');
  });

  it('listens', async () => {
    const heard: string[] = [];
    let tell!: () => void;
    const told = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const { unlisten } = await sql.listen('postgres.js', (payload) => {
      heard.push(payload);
      tell();
    });
    await sql.notify('postgres.js', 'hello');
    await told;
    await unlisten();
    expect(heard).toEqual(['hello']);
  });
});
