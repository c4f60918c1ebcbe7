/** Where the HTTP API listens: on the loopback interface only. */
import { type ServerType, serve } from '@hono/node-server';
import { JobqError } from '../errors.js';
import { createApp } from './app.js';
import type { Service } from './service.js';

export interface ListenOptions {
  /** 0 takes any free one. */
  port: number;
  /** How many of the ports after a taken one are tried. */
  tries: number;
  /** What requests must carry. */
  token?: string | undefined;
}

export interface Listening {
  port: number;
  /** Ends open requests too. */
  close(): Promise<void>;
}

/** @throws JobqError `port-taken` */
export async function listen(
  service: Service,
  { port, tries, token }: ListenOptions,
): Promise<Listening> {
  const app = createApp(service, { token });
  for (let at = port; ; at += 1) {
    try {
      return await listenOn(app.fetch, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      if (at < port + tries) continue;
      throw new JobqError(
        'port-taken',
        `port ${port} on 127.0.0.1 is taken by another program`,
        `See which: ss -ltnp 'sport = :${port}' (or lsof -i :${port}); or choose another: --port 0 takes any free one.`,
      );
    }
  }
}

function listenOn(fetch: Parameters<typeof serve>[0]['fetch'], port: number): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname: '127.0.0.1', port }, (address) => {
      server.off('error', reject);
      resolve({ port: address.port, close: () => close(server) });
    });
    server.once('error', reject);
  });
}

async function close(server: ServerType): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
}
