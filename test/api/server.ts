import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import type { Hono } from 'hono';
import { onTestFinished } from 'vitest';

export interface TestServer {
  url: string;
  /** Breaks every connection and listens no more. Idempotent. */
  close: () => Promise<void>;
}

/** An app behind a real port, until the test ends. */
export async function serveApp(app: Hono, port = 0): Promise<TestServer> {
  const server = await new Promise<ServerType>((resolve) => {
    const made = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, () => resolve(made));
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      if ('closeAllConnections' in server) server.closeAllConnections();
    });
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
