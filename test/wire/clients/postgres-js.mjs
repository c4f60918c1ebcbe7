import postgres from 'postgres';
import { equal, runSteps } from './steps.mjs';

const [url, prefix] = process.argv.slice(2);
const sql = postgres(url, { max: 10, onnotice() {}, connection: { application_name: prefix } });
const orders = sql(`${prefix}_orders`);
const counter = sql(`${prefix}_counter`);
const order = async (tx, item) => {
  const [{ id }] = await tx`insert into ${orders} (item) values (${item}) returning id`;
  await tx`insert into jobs (kind, payload) values (${prefix}, ${tx.json({ order: id })})`;
};
const jobs = async () =>
  (await sql`select count(*)::int as n from jobs where kind = ${prefix}`)[0].n;

await runSteps({
  async connect() {
    equal(/^PostgreSQL 18/.test((await sql`select version()`)[0].version), true);
  },
  async migrate() {
    await sql.begin(async (tx) => {
      await tx`create table ${orders} (id serial primary key, item text unique)`;
      await tx.unsafe(
        `create table ${prefix}_counter (n int); insert into ${prefix}_counter values (0)`,
      );
    });
  },
  async transaction() {
    await sql.begin((tx) => order(tx, 'book'));
    equal(await jobs(), 1);
  },
  async rollback() {
    const failed = await sql
      .begin(async (tx) => {
        await order(tx, 'pen');
        await order(tx, 'book');
      })
      .catch((error) => error.code);
    equal(failed, '23505');
    equal([await jobs(), (await sql`select count(*)::int as n from ${orders}`)[0].n], [1, 1]);
  },
  async prepared() {
    const [a, b] = await Promise.all([sql.reserve(), sql.reserve()]);
    for (let i = 0; i < 20; i += 1) {
      const [[x], [y]] = await Promise.all([
        a`select ${i}::int + 1 as v`,
        b`select ${i}::int * 2 as v`,
      ]);
      equal([x.v, y.v], [i + 1, i * 2]);
    }
    a.release();
    b.release();
  },
  async batch() {
    const rows = Array.from({ length: 1_000 }, (_, i) => ({ item: `batch ${i}` }));
    await sql`insert into ${orders} ${sql(rows)}`;
    equal(
      (await sql`select count(*)::int as n from ${orders} where item like 'batch %'`)[0].n,
      1_000,
    );
  },
  async listen() {
    let tell;
    const heard = new Promise((resolve) => {
      tell = resolve;
    });
    const { unlisten } = await sql.listen(prefix, tell);
    await sql.notify(prefix, 'hello');
    equal(await heard, 'hello');
    await unlisten();
  },
  async pool() {
    const add = () =>
      sql.begin(async (tx) => {
        const [{ n }] = await tx`select n from ${counter} for update`;
        await tx`update ${counter} set n = ${n + 1}`;
      });
    await Promise.all(Array.from({ length: 200 }, add));
    equal((await sql`select n from ${counter}`)[0].n, 200);
  },
});
await sql.end();
