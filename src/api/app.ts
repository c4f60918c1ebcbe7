/** The HTTP API: routes over the service, and errors as problem documents (RFC 9457). */
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { JobqError } from '../errors.js';
import { json, problem } from './answer.js';
import { BODY_LIMIT_BYTES } from './contract.js';
import { BodyTooLarge, loopbackOnly, tokenOnly } from './guard.js';
import { mount, type Route } from './route.js';
import { CONTROL_ROUTES } from './routes/control.js';
import { JOB_ROUTES } from './routes/jobs.js';
import { WATCH_ROUTES } from './routes/watch.js';
import type { Service } from './service.js';

export const ROUTES: readonly Route[] = [...WATCH_ROUTES, ...JOB_ROUTES, ...CONTROL_ROUTES];

export interface AppOptions {
  /** What every request must carry, besides those that ask whether it lives. */
  token?: string | undefined;
}

export function createApp(service: Service, { token }: AppOptions = {}): Hono {
  const app = new Hono();
  app.onError((error, context) => problem(context, error));
  app.notFound((context) =>
    problem(
      context,
      new JobqError('not-found', `there is nothing at ${context.req.method} ${context.req.path}`),
    ),
  );
  app.use(loopbackOnly);
  if (token !== undefined) app.use(tokenOnly(token));
  app.use(
    bodyLimit({
      maxSize: BODY_LIMIT_BYTES,
      onError: () => {
        throw new BodyTooLarge();
      },
    }),
  );
  mount(app, service, ROUTES);
  app.get('/openapi.json', async (context) => {
    const { openApiDocument } = await import('./openapi.js');
    const { version } = service.info();
    return json(context, openApiDocument(ROUTES, { version, secured: token !== undefined }));
  });
  return app;
}
