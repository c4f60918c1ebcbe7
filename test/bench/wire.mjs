/** Single-row inserts through the Postgres port, against direct calls, and by ten clients against one. */
import pg from 'pg';
import { migrate } from '#src/db/migrate.js';
import { openPglite } from '#src/db/pglite.js';
import { TEMPLATE_TAR } from '#src/db/template.js';
import { WireServer } from '#src/wire/server.js';
import { directPglite } from './direct.mjs';
import { compare, report, timed } from './measure.mjs';

const INSERT = 'insert into jobs (kind, payload) values ($1, $2)';
const VALUES = ['work', '{"a": 1}'];
const ROUNDS = 9;
const INSERTS = 500;
const CLIENTS = 10;

/** @param {{ query(sql: string, values: unknown[]): Promise<unknown> }} client */
async function insert(client, count) {
  for (let i = 0; i < count; i += 1) await client.query(INSERT, VALUES);
}

export async function wire() {
  const db = await openPglite({ dataDir: 'memory', templatePath: TEMPLATE_TAR });
  await migrate(db);
  const bare = await directPglite();
  const server = new WireServer({ db });
  const port = await server.listen(0);
  const clients = Array.from(
    { length: CLIENTS },
    () => new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' }),
  );
  try {
    await Promise.all(clients.map((client) => client.connect()));
    const one = () => timed(() => insert(clients[0], INSERTS));
    const all = () =>
      timed(() => Promise.all(clients.map((client) => insert(client, INSERTS / CLIENTS))));
    const direct = () => timed(() => insert(bare, INSERTS));
    await one();
    await direct();
    report(
      'inserts by a client of the Postgres port, speed against direct calls of PGlite',
      await compare({ rounds: ROUNDS, ours: one, bare: direct }),
      { limit: 0.5, atLeast: true },
    );
    report(
      `inserts by ${CLIENTS} clients, speed against one`,
      await compare({ rounds: ROUNDS, ours: all, bare: one }),
      { limit: 0.7, atLeast: true },
    );
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    await server.close();
    await bare.close();
    await db.close();
  }
}
