/** The HTTP API: routes over the service, and errors as problem documents (RFC 9457). */
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { JobqError } from '../errors.js';
import { problem } from './answer.js';
import { BODY_LIMIT_BYTES } from './contract.js';
import { BodyTooLarge, loopbackOnly } from './guard.js';
import { controlRoutes } from './routes/control.js';
import { jobRoutes } from './routes/jobs.js';
import { watchRoutes } from './routes/watch.js';
import type { Service } from './service.js';

export function createApp(service: Service): Hono {
  const app = new Hono();
  app.onError((error, context) => problem(context, error));
  app.notFound((context) =>
    problem(
      context,
      new JobqError('not-found', `there is nothing at ${context.req.method} ${context.req.path}`),
    ),
  );
  app.use(loopbackOnly);
  app.use(
    bodyLimit({
      maxSize: BODY_LIMIT_BYTES,
      onError: () => {
        throw new BodyTooLarge();
      },
    }),
  );
  watchRoutes(app, service);
  jobRoutes(app, service);
  controlRoutes(app, service);
  return app;
}
