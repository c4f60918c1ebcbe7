import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#src/db/port.js';
import { PreparedStatements } from '#src/db/prepared.js';
import { freshMemoryDatabase } from '../support/postgres.js';

describe('prepared statements of a session', () => {
  it('prepares at the second use, and sends the name alone after that', () => {
    const statements = new PreparedStatements();
    expect(statements.use('select 1')).toBeUndefined();
    expect(statements.use('select 1')).toEqual({ name: 'jobq_0', parse: true });
    statements.answered('select 1', true);
    expect(statements.use('select 1')).toEqual({ name: 'jobq_0', parse: false });
  });

  it('sends uses unnamed while one of them is preparing', () => {
    const statements = new PreparedStatements();
    statements.use('select 1');
    statements.use('select 1');
    expect(statements.use('select 1')).toBeUndefined();
  });

  it('tries again when preparing failed', () => {
    const statements = new PreparedStatements();
    statements.use('select 1');
    statements.use('select 1');
    statements.answered('select 1', false);
    expect(statements.use('select 1')).toEqual({ name: 'jobq_0', parse: true });
  });

  it('keeps a bounded number', () => {
    const statements = new PreparedStatements();
    for (let n = 0; n < 500; n += 1) statements.use(`select ${n}`);
    expect(statements.use('select 499')).toBeUndefined();
    expect(statements.use('select 499')).toBeUndefined();
  });
});

describe('prepared statements on PGlite', () => {
  let db: Database;
  beforeAll(async () => {
    db = await freshMemoryDatabase();
  });
  afterAll(() => db.close());

  const names = async () => {
    const { rows } = await db.query<{ statement: string }>(
      'select statement from pg_prepared_statements',
    );
    return rows.map(({ statement }) => statement);
  };

  it('are made for what comes again, also when sent all at once', async () => {
    const sql = 'select $1::int + 1 as n';
    const asked = Array.from({ length: 20 }, (_, n) => db.query<{ n: number }>(sql, [n]));
    const answers = await Promise.all(asked);
    expect(answers.map(({ rows }) => rows[0]!.n)).toEqual(asked.map((_, n) => n + 1));
    await db.query(sql, [1]);
    expect(await names()).toContain(sql);
  });

  it.each([1, 2, 3])('survive that use number %i of them fails', async (failing) => {
    const sql = `select $1::int + ${failing} as n`;
    for (const use of [1, 2, 3, 4, 5]) {
      const asked = db.query(sql, [use === failing ? 'none' : use]);
      if (use === failing) await expect(asked).rejects.toMatchObject({ sqlstate: '22P02' });
      else expect((await asked).rows).toEqual([{ n: use + failing }]);
    }
    expect(await names()).toContain(sql);
  });

  it('survive an error, and a change of the table', async () => {
    const sql = 'insert into fruit (name) values ($1) returning name';
    await db.exec('create table fruit (name text unique)');
    for (const name of ['apple', 'pear', 'plum']) await db.query(sql, [name]);
    await expect(db.query(sql, ['pear'])).rejects.toMatchObject({ sqlstate: '23505' });
    await db.exec('alter table fruit add colour text');
    expect((await db.query(sql, ['fig'])).rows).toEqual([{ name: 'fig' }]);
  });

  it('are planned for the table as it is', async () => {
    expect((await db.query('show plan_cache_mode')).rows).toEqual([
      { plan_cache_mode: 'force_custom_plan' },
    ]);
  });
});
