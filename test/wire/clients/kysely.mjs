import { once } from 'node:events';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { equal, runSteps } from './steps.mjs';

const [url, prefix] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10, application_name: prefix });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
const orders = `${prefix}_orders`;
const counter = `${prefix}_counter`;
const order = async (tx, item) => {
  const { id } = await tx
    .insertInto(orders)
    .values({ item })
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('jobs')
    .values({ kind: prefix, payload: { order: id } })
    .execute();
};
const count = async (table, where = (query) => query) =>
  Number((await where(db.selectFrom(table).select(sql`count(*)`.as('n'))).executeTakeFirst()).n);
const jobs = () => count('jobs', (query) => query.where('kind', '=', prefix));

await runSteps({
  async connect() {
    const { rows } = await sql`select version()`.execute(db);
    equal(/^PostgreSQL 18/.test(rows[0].version), true);
  },
  async migrate() {
    await db.transaction().execute(async (tx) => {
      await tx.schema
        .createTable(orders)
        .addColumn('id', 'serial', (column) => column.primaryKey())
        .addColumn('item', 'text', (column) => column.unique())
        .execute();
      await tx.schema.createTable(counter).addColumn('n', 'integer').execute();
      await tx.insertInto(counter).values({ n: 0 }).execute();
    });
    const tables = await db.introspection.getTables();
    equal(tables.filter(({ name }) => name.startsWith(`${prefix}_`)).length, 2);
  },
  async transaction() {
    await db.transaction().execute((tx) => order(tx, 'book'));
    equal(await jobs(), 1);
  },
  async rollback() {
    const failed = await db
      .transaction()
      .execute(async (tx) => {
        await order(tx, 'pen');
        await order(tx, 'book');
      })
      .catch((error) => error.code);
    equal(failed, '23505');
    equal([await jobs(), await count(orders)], [1, 1]);
  },
  async prepared() {
    await Promise.all(
      [1, 2].map((factor) =>
        db.connection().execute(async (connection) => {
          for (let i = 0; i < 20; i += 1) {
            const { rows } = await sql`select ${i}::int * ${factor}::int as v`.execute(connection);
            equal(rows[0].v, i * factor);
          }
        }),
      ),
    );
  },
  async batch() {
    const rows = Array.from({ length: 1_000 }, (_, i) => ({ item: `batch ${i}` }));
    await db.insertInto(orders).values(rows).execute();
    equal(await count(orders, (query) => query.where('item', 'like', 'batch %')), 1_000);
  },
  async listen() {
    const client = await pool.connect();
    await client.query(`listen ${prefix}`);
    const heard = once(client, 'notification');
    await sql`select pg_notify(${prefix}, 'hello')`.execute(db);
    equal((await heard)[0].payload, 'hello');
    client.release(true);
  },
  async pool() {
    const add = () =>
      db.transaction().execute(async (tx) => {
        const { n } = await tx.selectFrom(counter).select('n').forUpdate().executeTakeFirst();
        await tx
          .updateTable(counter)
          .set({ n: n + 1 })
          .execute();
      });
    await Promise.all(Array.from({ length: 200 }, add));
    equal((await db.selectFrom(counter).select('n').executeTakeFirst()).n, 200);
  },
});
await db.destroy();
