/** Where the HTTP API listens: on the loopback interface only. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listenOnLoopback, type PortChoice } from '../loopback.js';
import type { Service } from './service.js';

export interface ListenOptions extends PortChoice {
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
  const server = createServer((request, response) => {
    // Routes that cannot be loaded: a broken installation.
    answer(request, response).catch((error: Error) => response.destroy(error));
  });
  const found = await listenOnLoopback(server, { port, tries, flag: '--port' });
  return { port: found, load, close: () => close(server) };
}

async function loadRoutes(service: Service, token: string | undefined): Promise<RequestListener> {
  const [{ getRequestListener }, { createApp }] = await Promise.all([
    import('@hono/node-server'),
    import('./app.js'),
  ]);
  return getRequestListener(createApp(service, { token }).fetch);
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
