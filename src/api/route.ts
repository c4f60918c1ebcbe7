/**
 * How a route is declared: once, with the schemas that its requests are checked by. The OpenAPI
 * document is made of the same declarations (openapi.ts).
 */
import type { Context, Hono } from 'hono';
import type { z } from 'zod';
import type { AnswerName } from './contract/answers.js';
import { check, readObject } from './input.js';
import type { Service } from './service.js';

/** Answers that are no JSON. */
type TextType = 'text/plain' | 'text/event-stream';

type Values<T> = T extends z.ZodObject ? z.output<T> : undefined;

/** What a handler is given. */
export interface Asked<Query, Body> {
  context: Context;
  service: Service;
  query: Query;
  body: Body;
  /** The body's `payload`, as JSON text. */
  payload: string | undefined;
}

interface Declaration<Query, Body> {
  method: 'get' | 'post' | 'patch';
  /** With Hono's parameters: `/jobs/:id`. */
  path: string;
  /** A line for people. */
  summary: string;
  query?: Query;
  body?: Body;
  /** Whether the body may be left out. */
  bodyIsOptional?: boolean;
  /** The handler reads the body itself: one of them, or an array. */
  takesMany?: boolean;
  /** What it answers with, or the type of a stream. */
  answers: AnswerName | TextType;
  status?: 200 | 201;
}

export interface Route extends Declaration<z.ZodObject, z.ZodObject> {
  handle: (asked: Asked<never, never>) => Response | Promise<Response>;
}

/** Declares a route. */
export function route<
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodObject | undefined = undefined,
>(
  declared: Declaration<Query, Body> & {
    handle: (asked: Asked<Values<Query>, Values<Body>>) => Response | Promise<Response>;
  },
): Route {
  return declared as unknown as Route;
}

/** Adds routes to an app. */
export function mount(app: Hono, service: Service, routes: readonly Route[]): void {
  for (const declared of routes) {
    app.on(declared.method.toUpperCase(), declared.path, async (context) => {
      const query = declared.query && check(declared.query, queryOf(context));
      const read = await readBody(context, declared);
      return declared.handle({ context, service, query, ...read } as Asked<never, never>);
    });
  }
}

/** The query's values; a list of those of a name that stands several times. */
function queryOf(context: Context): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? values[0]! : values,
    ]),
  );
}

async function readBody(
  context: Context,
  { body, bodyIsOptional, takesMany }: Route,
): Promise<{ body: unknown; payload: string | undefined }> {
  if (body === undefined || takesMany) return { body: undefined, payload: undefined };
  const text = await context.req.text();
  const { values, payload } = readObject(bodyIsOptional ? text || '{}' : text);
  return { body: check(body, values), payload };
}
