/**
 * The OpenAPI 3.1 document, made of the routes' declarations: the schemas that check the requests
 * are the schemas that it shows. Loaded at the first request for it.
 */
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { ANSWERS } from './contract/answers.js';
import { EventData } from './contract/events.js';
import { Problem } from './contract/problem.js';
import { OPEN_PATHS } from './guard.js';
import type { Route } from './route.js';

export interface DocumentOptions {
  version: string;
  /** Whether requests must carry a token. */
  secured: boolean;
}

export function openApiDocument(
  routes: readonly Route[],
  { version, secured }: DocumentOptions,
): object {
  const app = new OpenAPIHono();
  const registry = app.openAPIRegistry;
  if (secured) {
    registry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' });
  }
  for (const route of routes) {
    registry.registerPath({
      method: route.method,
      path: route.path.replace(/:(\w+)/g, '{$1}'),
      summary: route.summary,
      request: request(route),
      ...(secured && OPEN_PATHS.includes(route.path) && { security: [] }),
      responses: {
        [route.status ?? 200]: answer(route),
        default: {
          description: 'It was refused, or failed; the hint says what to do.',
          content: { 'application/problem+json': { schema: Problem } },
        },
      },
    });
  }
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'jobq-dev',
      version,
      description:
        'The local emulator of a job queue in Postgres. Ids are decimal strings; payloads keep every digit, so read them with a parser that does.',
    },
    ...(secured && { security: [{ token: [] }] }),
  });
}

function request({ path, query, body, bodyIsOptional, takesMany }: Route) {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, z.string()] as const);
  const schema = body && takesMany ? z.union([body, z.array(body)]) : body;
  return {
    ...(names.length > 0 && { params: z.object(Object.fromEntries(names)) }),
    ...(query && { query }),
    ...(schema && {
      body: { required: !bodyIsOptional, content: { 'application/json': { schema } } },
    }),
  };
}

function answer({ answers }: Route) {
  if (answers === 'text/plain') {
    return { description: 'Text.', content: { [answers]: { schema: z.string() } } };
  }
  if (answers === 'text/event-stream') {
    return {
      description: 'Messages whose data is JSON, by the name of the event.',
      content: { [answers]: { schema: EventData } },
    };
  }
  return { description: answers, content: { 'application/json': { schema: ANSWERS[answers] } } };
}
