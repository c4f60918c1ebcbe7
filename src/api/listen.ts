/** Where the HTTP API listens: on the loopback interface only. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { JobqError } from '../errors.js';
import type { Service } from './service.js';

export interface ListenOptions {
  /** 0 takes any free one. */
  port: number;
  /** How many of the ports after a taken one are tried. */
  tries: number;
  /** What requests must carry. */
  token?: string | undefined;
}

/** Of Node's own HTTP server. */
type RequestListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface Listening {
  port: number;
  /** Loads the routes, which a start does not wait for. The first request does so too. */
  load(): Promise<unknown>;
  /** Ends open requests too. */
  close(): Promise<void>;
}

/** @throws JobqError `port-taken` */
export async function listen(
  service: Service,
  { port, tries, token }: ListenOptions,
): Promise<Listening> {
  let loading: Promise<RequestListener> | undefined;
  const load = () => {
    loading ??= loadRoutes(service, token);
    return loading;
  };
  const answer: RequestListener = async (request, response) => (await load())(request, response);
  for (let at = port; ; at += 1) {
    try {
      const server = await listenOn(answer, at);
      const { port: found } = server.address() as AddressInfo;
      return { port: found, load, close: () => close(server) };
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

async function loadRoutes(service: Service, token: string | undefined): Promise<RequestListener> {
  const [{ getRequestListener }, { createApp }] = await Promise.all([
    import('@hono/node-server'),
    import('./app.js'),
  ]);
  return getRequestListener(createApp(service, { token }).fetch);
}

function listenOn(answer: RequestListener, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    // Routes that cannot be loaded: a broken installation.
    answer(request, response).catch((error: Error) => response.destroy(error));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
