/** Two servers that clients must not be able to tell apart: the port on PGlite, and Postgres. */
import pg from 'pg';
import { openPglite, type PgliteDatabase } from '#src/db/pglite.js';
import { TEMPLATE_TAR } from '#src/db/template.js';
import { type WireOptions, WireServer } from '#src/wire/server.js';
import { freshDatabaseUrl } from '../support/postgres.js';

export interface TestServer {
  url: string;
  close(): Promise<void>;
}

export interface WirePort extends TestServer {
  db: PgliteDatabase;
  server: WireServer;
  warnings: string[];
}

/** The port on a database in memory, or on `dataDir`. */
export async function startWire(
  options: Partial<WireOptions> & { dataDir?: string } = {},
): Promise<WirePort> {
  const { dataDir, ...rest } = options;
  const db =
    options.db ??
    (await openPglite(
      dataDir === undefined ? { dataDir: 'memory', templatePath: TEMPLATE_TAR } : { dataDir },
    ));
  const warnings: string[] = [];
  const server = new WireServer({ db, warn: (message) => warnings.push(message), ...rest });
  const port = await server.listen(0);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    db,
    server,
    warnings,
    close: async () => {
      await server.close();
      await db.close();
    },
  };
}

export async function startPostgres(): Promise<TestServer> {
  return { url: await freshDatabaseUrl(), close: async () => {} };
}

export const SERVERS: [string, () => Promise<TestServer>][] = [
  ['the port on PGlite', startWire],
  ['Postgres', startPostgres],
];

/** A client of `pg`. It is closed with `close`, whatever state it is in. */
export class Client {
  private constructor(readonly pg: pg.Client) {}

  static async connect(url: string, more: pg.ClientConfig = {}): Promise<Client> {
    const client = new pg.Client({ connectionString: url, ...more });
    client.on('error', () => {});
    await client.connect();
    return new Client(client);
  }

  /** @returns the rows, each as an array of texts as they come. */
  async rows(sql: string, values: unknown[] = []): Promise<unknown[][]> {
    const result = await this.pg.query({ text: sql, values, rowMode: 'array' });
    return result.rows;
  }

  async one(sql: string, values: unknown[] = []): Promise<unknown> {
    return (await this.rows(sql, values))[0]?.[0];
  }

  /** Runs statements without parameters, by the simple protocol. */
  async run(sql: string): Promise<void> {
    await this.pg.query(sql);
  }

  /** @returns the SQLSTATE that the statement fails with. */
  async code(sql: string, values?: unknown[]): Promise<string | undefined> {
    return this.pg.query(values === undefined ? sql : { text: sql, values }).then(
      () => undefined,
      (error) => error.code,
    );
  }

  async end(): Promise<void> {
    await this.pg.end().catch(() => {});
  }

  /** As a process that is killed: no Terminate. */
  vanish(): void {
    (
      this.pg as unknown as { connection: { stream: { destroy(): void } } }
    ).connection.stream.destroy();
  }
}
