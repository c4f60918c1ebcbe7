import type { AddressInfo, Server } from 'node:net';
import { JobqError } from './errors.js';

export const LOOPBACK = '127.0.0.1';

export interface PortChoice {
  /** 0 takes any free one. */
  port: number;
  /** How many of the ports after a taken one are tried. */
  tries: number;
}

interface NamedPortChoice extends PortChoice {
  /** What it is for, e.g. `for Postgres clients`, and the flag that chooses another. */
  purpose?: string;
  flag: string;
}

/**
 * Listens where nobody but this machine can reach it.
 * @returns the port.
 * @throws JobqError `port-taken`; the system's error, such as EACCES.
 */
export async function listenOnLoopback(
  server: Server,
  { port, tries, purpose, flag }: NamedPortChoice,
): Promise<number> {
  for (let at = port; ; at += 1) {
    try {
      return await listenAt(server, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      if (at < port + tries) continue;
      throw new JobqError(
        'port-taken',
        `port ${port} on ${LOOPBACK}${purpose ? `, ${purpose},` : ''} is taken by another program`,
        `See which: ss -ltnp 'sport = :${port}' (or lsof -i :${port}); or choose another: ${flag} 0 takes any free one.`,
      );
    }
  }
}

function listenAt(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, LOOPBACK, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
