/** Where the Postgres port listens: on the loopback interface only. */
import type { PgliteDatabase } from '../db/pglite.js';
import { LOOPBACK, type PortChoice } from '../loopback.js';
import { type WireOptions, WireServer } from './server.js';

export interface ListenOptions extends Omit<WireOptions, 'db'>, PortChoice {}

export interface Listening {
  port: number;
  /** For an app's configuration. */
  url: string;
  /** Ends every client. */
  close(): Promise<void>;
}

/** @throws JobqError `port-taken` */
export async function listen(
  db: PgliteDatabase,
  { port: wanted, tries, ...options }: ListenOptions,
): Promise<Listening> {
  const server = new WireServer({ db, ...options });
  const port = await server.listen(wanted, tries);
  const url = `postgres://postgres@${LOOPBACK}:${port}/postgres`;
  return { port, url, close: () => server.close() };
}
