import { PrismaPg } from '@prisma/adapter-pg';
import { equal, runSteps } from '../steps.mjs';
import { PrismaClient } from './generated/index.js';

const [url, prefix] = process.argv.slice(2);
const open = () =>
  new PrismaClient({
    adapter: new PrismaPg({ connectionString: url, max: 10, application_name: prefix }),
  });
const prisma = open();
const order = async (tx, item) => {
  const { id } = await tx.order.create({ data: { item } });
  await tx.job.create({ data: { kind: prefix, payload: { order: id } } });
};
const jobs = () => prisma.job.count({ where: { kind: prefix } });
/** Its own limits are for a server whose transactions run side by side. */
const PATIENCE = { maxWait: 60_000, timeout: 60_000 };

await runSteps({
  async connect() {
    const [{ version }] = await prisma.$queryRaw`select version()`;
    equal(/^PostgreSQL 18/.test(version), true);
  },
  // As `prisma migrate` applies its files; that command needs an engine that npm does not bring.
  async migrate() {
    await prisma.$transaction([
      prisma.$executeRawUnsafe(
        `create table ${prefix}_orders (id serial primary key, item text unique)`,
      ),
      prisma.$executeRawUnsafe(`create table ${prefix}_counter (n int)`),
      prisma.$executeRawUnsafe(`insert into ${prefix}_counter values (0)`),
    ]);
  },
  async transaction() {
    await prisma.$transaction((tx) => order(tx, 'book'), PATIENCE);
    equal(await jobs(), 1);
  },
  async rollback() {
    const failed = await prisma
      .$transaction(async (tx) => {
        await order(tx, 'pen');
        await order(tx, 'book');
      }, PATIENCE)
      .catch((error) => error.code);
    equal(failed, 'P2002');
    equal([await jobs(), await prisma.order.count()], [1, 1]);
  },
  async prepared() {
    const other = open();
    for (let i = 0; i < 20; i += 1) {
      const [[plus], [times]] = await Promise.all([
        prisma.$queryRaw`select ${i}::int + 1 as v`,
        other.$queryRaw`select ${i}::int * 2 as v`,
      ]);
      equal([plus.v, times.v], [i + 1, i * 2]);
    }
    await other.$disconnect();
  },
  async batch() {
    const data = Array.from({ length: 1_000 }, (_, i) => ({ item: `batch ${i}` }));
    await prisma.order.createMany({ data });
    equal(await prisma.order.count({ where: { item: { startsWith: 'batch ' } } }), 1_000);
  },
  async pool() {
    const add = () =>
      prisma.$transaction(async (tx) => {
        const [{ n }] = await tx.$queryRawUnsafe(`select n from ${prefix}_counter for update`);
        await tx.$executeRawUnsafe(`update ${prefix}_counter set n = ${n + 1}`);
      }, PATIENCE);
    await Promise.all(Array.from({ length: 200 }, add));
    const [{ n }] = await prisma.$queryRawUnsafe(`select n from ${prefix}_counter`);
    equal(n, 200);
  },
});
await prisma.$disconnect();
