/** What runs here, how the queue stands, and what happens. */
import { json, stream } from '../answer.js';
import { EventsQuery, StatsQuery } from '../contract.js';
import { route } from '../route.js';
import { eventStream } from '../sse.js';

export const WATCH_ROUTES = [
  route({
    method: 'get',
    path: '/healthz',
    summary: 'Whether it is alive.',
    answers: 'Ok',
    handle: ({ context }) => json(context, { ok: true }),
  }),
  route({
    method: 'get',
    path: '/readyz',
    summary: 'Whether the database answers.',
    answers: 'Ok',
    async handle({ context, service }) {
      await service.ready();
      return json(context, { ok: true });
    },
  }),
  route({
    method: 'get',
    path: '/info',
    summary: 'What runs here.',
    answers: 'Info',
    handle: ({ context, service }) => json(context, service.info()),
  }),
  route({
    method: 'get',
    path: '/stats',
    summary: 'How the queue stands; what is above 10,000 is estimated unless exact=true.',
    query: StatsQuery,
    answers: 'Stats',
    handle: async ({ context, service, query: { exact = false } }) =>
      json(context, await service.stats({ exact })),
  }),
  route({
    method: 'get',
    path: '/overview',
    summary: 'Everything that one look needs, and the event that it goes on from.',
    answers: 'Overview',
    handle: async ({ context, service }) => json(context, await service.overview()),
  }),
  route({
    method: 'get',
    path: '/metrics',
    summary: 'What Prometheus reads.',
    answers: 'text/plain',
    async handle({ context, service }) {
      const { type, text } = await service.metrics();
      return context.body(text, 200, { 'content-type': type });
    },
  }),
  route({
    method: 'get',
    path: '/events',
    summary: 'What happens, as server-sent events. Resumes after ?after= or Last-Event-ID.',
    query: EventsQuery,
    answers: 'text/event-stream',
    handle({ context, service, query }) {
      const after = query.after ?? context.req.header('last-event-id') ?? service.lastEventId;
      return stream(context, 'text/event-stream', (signal) =>
        eventStream(after, service.events(after, signal)),
      );
    },
  }),
];
