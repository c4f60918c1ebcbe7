/** What runs here, how the queue stands, and what happens. */
import type { Hono } from 'hono';
import { json, stream } from '../answer.js';
import { EventsQuery } from '../contract.js';
import { check } from '../input.js';
import type { Service } from '../service.js';
import { eventStream } from '../sse.js';

export function watchRoutes(app: Hono, service: Service): void {
  app.get('/healthz', (context) => json(context, { ok: true }));
  app.get('/readyz', async (context) => {
    await service.ready();
    return json(context, { ok: true });
  });
  app.get('/info', (context) => json(context, service.info()));
  app.get('/stats', async (context) => json(context, await service.stats()));
  app.get('/overview', async (context) => json(context, await service.overview()));
  app.get('/events', (context) => {
    const query = check(EventsQuery, context.req.query());
    const after = query.after ?? context.req.header('last-event-id') ?? service.lastEventId;
    return stream(context, 'text/event-stream', (signal) =>
      eventStream(after, service.events(after, signal)),
    );
  });
}
