import { once } from 'node:events';
import pg from 'pg';
import { equal, runSteps } from './steps.mjs';

const [url, prefix] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10, application_name: prefix });
const one = async (sql, values) => Object.values((await pool.query(sql, values)).rows[0])[0];
const order = async (client, item) => {
  const { rows } = await client.query(
    `insert into ${prefix}_orders (item) values ($1) returning id`,
    [item],
  );
  await client.query('insert into jobs (kind, payload) values ($1, $2)', [
    prefix,
    { order: rows[0].id },
  ]);
};
const inTransaction = async (work) => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
};
const jobs = () => one('select count(*)::int from jobs where kind = $1', [prefix]);

await runSteps({
  async connect() {
    equal(/^PostgreSQL 18/.test(await one('select version()')), true);
  },
  async migrate() {
    await inTransaction(async (client) => {
      await client.query(`create table ${prefix}_orders (id serial primary key, item text unique)`);
      await client.query(`create index on ${prefix}_orders (item text_pattern_ops)`);
      await client.query(
        `create table ${prefix}_counter (n int); insert into ${prefix}_counter values (0)`,
      );
    });
  },
  async transaction() {
    await inTransaction((client) => order(client, 'book'));
    equal(await jobs(), 1);
  },
  async rollback() {
    const failed = await inTransaction(async (client) => {
      await order(client, 'pen');
      await order(client, 'book');
    }).catch((error) => error.code);
    equal(failed, '23505');
    equal([await jobs(), await one(`select count(*)::int from ${prefix}_orders`)], [1, 1]);
  },
  async prepared() {
    const [a, b] = await Promise.all([pool.connect(), pool.connect()]);
    for (let i = 0; i < 20; i += 1) {
      const ask = async (client, text) =>
        (await client.query({ name: 'same', text, values: [i] })).rows[0].v;
      equal(
        await Promise.all([ask(a, 'select $1::int + 1 as v'), ask(b, 'select $1::int * 2 as v')]),
        [i + 1, i * 2],
      );
    }
    a.release();
    b.release();
  },
  async batch() {
    const items = Array.from({ length: 1_000 }, (_, i) => `batch ${i}`);
    await pool.query(`insert into ${prefix}_orders (item) select unnest($1::text[])`, [items]);
    equal(await one(`select count(*)::int from ${prefix}_orders where item like 'batch %'`), 1_000);
  },
  async listen() {
    const client = await pool.connect();
    await client.query(`listen ${prefix}`);
    const heard = once(client, 'notification');
    await pool.query('select pg_notify($1, $2)', [prefix, 'hello']);
    equal((await heard)[0].payload, 'hello');
    await client.query('unlisten *');
    client.release();
  },
  async pool() {
    const add = () =>
      inTransaction(async (client) => {
        const { rows } = await client.query(`select n from ${prefix}_counter for update`);
        await client.query(`update ${prefix}_counter set n = $1`, [rows[0].n + 1]);
      });
    await Promise.all(Array.from({ length: 200 }, add));
    equal(await one(`select n from ${prefix}_counter`), 200);
  },
});
await pool.end();
