import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, DatabaseError } from '#src/db/port.js';
import { JobqError } from '#src/errors.js';

/** What every driver must do, by port.ts. */
export function databaseConformance(name: string, open: () => Promise<Database>): void {
  describe(`${name}: the database port`, () => {
    let db: Database;
    beforeAll(async () => {
      db = await open();
    });
    afterAll(() => db.close());

    const one = async (sql: string, params: Parameters<Database['query']>[1] = []) =>
      (await db.query<{ v: unknown }>(sql, params)).rows[0]!.v;
    const count = async () => Number(await one('select count(*) as v from jobs'));

    describe('values', () => {
      it.each([
        ['9223372036854775807', 'int8'],
        ['-9223372036854775808', 'int8'],
        ['1.10', 'numeric'],
        ['0.10000000000000000000000000000000000001', 'numeric'],
        [`1${'0'.repeat(400)}`, 'numeric'],
        ['{"id": 1970670598291982290, "f": 1.10, "e": 1e400}', 'json'],
        ['{"a": 1.10, "id": 1970670598291982290}', 'jsonb'],
        [`{"n": 1${'0'.repeat(400)}}`, 'jsonb'],
        ['"just a string"', 'jsonb'],
        ['null', 'jsonb'],
        ['it\'s "quoted" \\ and\nover lines\u0001 ü 漢 👩‍👩‍👧', 'text'],
        ['', 'text'],
        ['6f1b0a52-8f3c-4d5e-9a7b-0123456789ab', 'uuid'],
      ])('%s as %s arrives as the same text', async (text, type) => {
        expect(await one(`select $1::${type} as v`, [text])).toBe(text);
      });

      it('prints 1e400 in jsonb with every digit', async () => {
        expect(await one('select $1::jsonb as v', ['1e400'])).toBe(`1${'0'.repeat(400)}`);
      });

      it('takes bigint, number, boolean and null', async () => {
        expect(await one('select $1::int8 as v', [9223372036854775807n])).toBe(
          '9223372036854775807',
        );
        expect(await one('select $1::int4 as v', [-5])).toBe(-5);
        expect(await one('select $1::int2 as v', [7])).toBe(7);
        expect(await one('select $1::float8 as v', [0.1])).toBe(0.1);
        expect(await one('select $1::float4 as v', [1.5])).toBe(1.5);
        expect(await one(`select 'NaN'::float8 as v`)).toBeNaN();
        expect(await one(`select '-Infinity'::float8 as v`)).toBe(-Infinity);
        expect(await one('select $1::bool as v', [true])).toBe(true);
        expect(await one('select $1::bool as v', [false])).toBe(false);
        expect(await one('select $1::text as v', [null])).toBeNull();
        expect(await one('select null::jsonb as v')).toBeNull();
      });

      it.each([
        '2026-03-08T10:00:00.123Z',
        '1970-01-01T00:00:00.000Z',
        '1883-11-18T12:00:00.001Z',
        '0099-12-31T23:59:59.999Z',
        '-000043-03-15T12:00:00.000Z',
        '+012026-01-01T00:00:00.000Z',
      ])('timestamp %s arrives as the same moment', async (iso) => {
        const date = new Date(iso);
        expect(await one('select $1::timestamptz as v', [date])).toEqual(date);
        // The server understood the same moment, and not one that happens to read back as it.
        const seconds = await one('select extract(epoch from $1::timestamptz)::text as v', [date]);
        expect(Number(seconds) * 1000).toBe(date.getTime());
      });

      it('reads a timestamp printed in any zone', async () => {
        await db.transaction(async (tx) => {
          for (const zone of ['Asia/Kathmandu', 'America/St_Johns', 'UTC', 'Africa/Monrovia']) {
            await tx.exec(`set local timezone = '${zone}'`);
            const { rows } = await tx.query<{ v: Date }>(
              `select '1900-06-01 12:34:56.789123+00'::timestamptz as v`,
            );
            expect(rows[0]!.v.toISOString()).toBe('1900-06-01T12:34:56.789Z');
          }
        });
      });

      it('keeps infinity at the ends of what a Date can hold', async () => {
        const never = (await one(`select 'infinity'::timestamptz as v`)) as Date;
        expect(never.getTime()).toBe(8.64e15);
        expect(await one(`select $1::timestamptz = 'infinity' as v`, [never])).toBe(true);
        const always = (await one(`select '-infinity'::timestamptz as v`)) as Date;
        expect(await one(`select $1::timestamptz = '-infinity' as v`, [always])).toBe(true);
      });

      it('takes and gives arrays', async () => {
        const texts = ['a', '', 'NULL', null, 'with "quotes"', 'back\\slash', '{,}', ' ', 'ü漢👍'];
        expect(await one('select $1::text[] as v', [texts])).toEqual(texts);
        expect(await one('select cardinality($1::text[]) as v', [texts])).toBe(texts.length);
        expect(await one('select $1::int8[] as v', [['9007199254740993', 1, null]])).toEqual([
          '9007199254740993',
          '1',
          null,
        ]);
        expect(await one('select $1::int4[] as v', [[]])).toEqual([]);
        expect(await one('select $1::bool[] as v', [[true, false, null]])).toEqual([
          true,
          false,
          null,
        ]);
        expect(await one('select $1::jsonb[] as v', [['{"a": "\\"x\\\\"}', '1.10']])).toEqual([
          '{"a": "\\"x\\\\"}',
          '1.10',
        ]);
        expect(await one(`select '[2:3]={5,6}'::int4[] as v`)).toEqual([5, 6]);
        expect(await one(`select '{{1,2},{3,NULL}}'::int4[] as v`)).toEqual([
          [1, 2],
          [3, null],
        ]);
        expect(await one('select id::text as v from unnest($1::int8[]) id', [['7']])).toBe('7');
      });

      it('carries a megabyte each way', async () => {
        const text = `${'0123456789abcdef'.repeat(65_536)}ü`;
        expect(await one('select $1::text as v', [text])).toBe(text);
      });

      it('carries many rows and columns', async () => {
        const { rows, rowCount } = await db.query<{ n: number }>(
          `select n, n * 2 as twice, 'row ' || n as name from generate_series(1, 20000) n`,
        );
        expect(rowCount).toBe(20_000);
        expect(rows[19_999]).toEqual({ n: 20_000, twice: 40_000, name: 'row 20000' });
      });
    });

    describe('row counts', () => {
      it('counts what was changed or returned, and nothing more', async () => {
        const insert = await db.query(
          `insert into jobs (kind, payload) select 'counted', '{}' from generate_series(1, 3)`,
        );
        expect(insert).toEqual({ rows: [], rowCount: 3 });
        const update = await db.query(
          `update jobs set last_error = 'x' where kind = 'counted' returning kind`,
        );
        expect(update.rowCount).toBe(3);
        expect(update.rows).toHaveLength(3);
        expect((await db.query(`delete from jobs where kind = 'counted'`)).rowCount).toBe(3);
        expect((await db.query(`delete from jobs where kind = 'counted'`)).rowCount).toBe(0);
        expect((await db.query('select 1 where false')).rowCount).toBe(0);
      });
    });

    describe('errors', () => {
      const failure = (sql: string, params: Parameters<Database['query']>[1] = []) =>
        db.query(sql, params).then(
          () => undefined,
          (error: unknown) => error,
        ) as Promise<DatabaseError>;

      it('has SQLSTATE, constraint and position', async () => {
        const syntax = await failure('select from where');
        expect(syntax).toBeInstanceOf(DatabaseError);
        expect(syntax.sqlstate).toBe('42601');
        const column = await failure('select nope from jobs');
        expect(column.sqlstate).toBe('42703');
        expect(column.detail.position).toBe(8);
        const check = await failure(
          `insert into jobs (kind, payload, status) values ('a', '{}', 'odd')`,
        );
        expect(check.sqlstate).toBe('23514');
        expect(check.detail.constraint).toBe('jobs_status_known');
        expect((await failure('select $1::jsonb', ['{bad'])).sqlstate).toBe('22P02');
        expect((await failure('select $1::text', ['a\u0000b'])).sqlstate).toBe('22021');
        expect((await failure('select $1::int', [])).sqlstate).toMatch(/^(08P01|42P02)$/);
      });

      it('one statement per query', async () => {
        expect((await failure('select 1; select 2')).sqlstate).toBe('42601');
      });

      it('poisons nothing', async () => {
        await failure('select 1/0');
        expect(await one('select 1 as v')).toBe(1);
        const settled = await Promise.allSettled([
          db.query('select 1/0'),
          db.query('select 2 as v'),
          db.query('select nope'),
          db.query('select 3 as v'),
        ]);
        expect(settled.map(({ status }) => status)).toEqual([
          'rejected',
          'fulfilled',
          'rejected',
          'fulfilled',
        ]);
      });

      it('in exec too, and what came before it in the same text is undone', async () => {
        const before = await count();
        await expect(
          db.exec(`insert into jobs (kind, payload) values ('a', '{}'); select nope;`),
        ).rejects.toMatchObject({ sqlstate: '42703' });
        expect(await count()).toBe(before);
      });
    });

    describe('transactions', () => {
      it('commits what work did and returns its value', async () => {
        const before = await count();
        const value = await db.transaction(async (tx) => {
          await tx.query(`insert into jobs (kind, payload) values ($1, $2)`, ['a', '{}']);
          return 'value';
        });
        expect(value).toBe('value');
        expect(await count()).toBe(before + 1);
      });

      it('rolls back when work throws, and throws the same', async () => {
        const before = await count();
        const reason = new Error('reason');
        await expect(
          db.transaction(async (tx) => {
            await tx.exec(`insert into jobs (kind, payload) values ('a', '{}')`);
            throw reason;
          }),
        ).rejects.toBe(reason);
        expect(await count()).toBe(before);
      });

      it('never says committed when a swallowed error rolled it back', async () => {
        const before = await count();
        await expect(
          db.transaction(async (tx) => {
            await tx.query(`insert into jobs (kind, payload) values ('a', '{}')`);
            await tx.query('select nope').catch(() => {});
          }),
        ).rejects.toMatchObject({ sqlstate: '25P02' });
        expect(await count()).toBe(before);
      });

      it('lets no other statement into it', async () => {
        const id = 'select pg_current_xact_id()::text as v';
        const outside: Promise<unknown>[] = [];
        const inside = await Promise.all(
          Array.from({ length: 5 }, () =>
            db.transaction(async (tx) => {
              const ask = async () => (await tx.query<{ v: string }>(id)).rows[0]!.v;
              const first = await ask();
              // Asked for in the middle of the transaction.
              outside.push(one(id), one(id));
              await tx.query(`insert into jobs (kind, payload) values ('t', '{}')`);
              expect(await ask()).toBe(first);
              return first;
            }),
          ),
        );
        expect(new Set([...inside, ...(await Promise.all(outside))]).size).toBe(15);
      });

      it('refuses statements after its end', async () => {
        let kept: Parameters<Parameters<Database['transaction']>[0]>[0] | undefined;
        await db.transaction(async (tx) => {
          kept = tx;
        });
        await expect(kept!.query('select 1')).rejects.toThrow('the transaction is over');
      });

      it('cannot be left open by a single statement', async () => {
        await db.exec('begin').catch(() => {});
        const before = await count();
        await db.query(`insert into jobs (kind, payload) values ('kept', '{}')`);
        await db.exec('rollback').catch(() => {});
        expect(await count()).toBe(before + 1);
      });
    });

    describe('closing', () => {
      it('waits for what is under way, can be repeated, and is final', async () => {
        const other = await open();
        const done: string[] = [];
        const under = [
          other.query('select count(*) from generate_series(1, 300000)').then(() => done.push('a')),
          other.transaction(async (tx) => {
            await tx.query('select 1');
            await tx.query('select count(*) from generate_series(1, 300000)');
            done.push('b');
          }),
          other.query('select 1').then(() => done.push('c')),
        ];
        await Promise.all([other.close(), other.close()]);
        await Promise.all(under);
        expect(done.sort()).toEqual(['a', 'b', 'c']);
        await other.close();
        await expect(other.query('select 1')).rejects.toBeInstanceOf(JobqError);
        await expect(other.exec('select 1')).rejects.toBeInstanceOf(JobqError);
        await expect(other.transaction(async () => {})).rejects.toBeInstanceOf(JobqError);
      });
    });

    it('maintains itself', async () => {
      await db.query(
        `insert into jobs (kind, payload) select 'm', '{}' from generate_series(1, 3000)`,
      );
      await db.maintain();
      await db.query(`delete from jobs where kind = 'm'`);
      await db.maintain();
    });
  });
}
