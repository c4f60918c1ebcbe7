/** Where the Postgres port listens: on the loopback interface only. */
import type { PgliteDatabase } from '../db/pglite.js';
import { JobqError } from '../errors.js';
import { type WireOptions, WireServer } from './server.js';

export interface ListenOptions extends Omit<WireOptions, 'db'> {
  /** 0 takes any free one. */
  port: number;
  /** How many of the ports after a taken one are tried. */
  tries: number;
}

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
  { port: first, tries, ...options }: ListenOptions,
): Promise<Listening> {
  const server = new WireServer({ db, ...options });
  for (let at = first; ; at += 1) {
    try {
      const port = await server.listen(at);
      const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
      return { port, url, close: () => server.close() };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      if (at < first + tries) continue;
      throw new JobqError(
        'port-taken',
        `port ${first} on 127.0.0.1, for Postgres clients, is taken by another program`,
        `See which: ss -ltnp 'sport = :${first}' (or lsof -i :${first}); or choose another: --pg-port 0 takes any free one.`,
      );
    }
  }
}
