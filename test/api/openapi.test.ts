import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { createApp } from '#src/api/app.js';
import { Service } from '#src/api/service.js';
import { apiWorld } from './world.js';

const world = apiWorld();

interface Document {
  openapi: string;
  paths: Record<string, Record<string, { security?: unknown }>>;
  security?: unknown;
}

async function document(token?: string): Promise<Document> {
  const app = createApp(new Service(world.options), { token });
  const response = await app.request('http://127.0.0.1/openapi.json', {
    headers: { host: '127.0.0.1', ...(token && { authorization: `Bearer ${token}` }) },
  });
  expect(response.headers.get('content-type')).toBe('application/json');
  return (await response.json()) as Document;
}

it('is a valid OpenAPI 3.1 document', async () => {
  for (const token of [undefined, 'secret']) {
    const told = await document(token);
    expect(told.openapi).toBe('3.1.0');
    expect(await new Validator().validate({ ...told })).toEqual({ valid: true });
  }
});

it('shows every route, and nothing else', async () => {
  const { paths } = await document();
  const shown = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const there = world.app.routes
    .filter(({ path }) => !['/*', '/openapi.json'].includes(path))
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
  expect(shown.sort()).toEqual(there.sort());
});

it('is what docs/api.md lists', () => {
  const text = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  const listed = [...text.matchAll(/`((?:GET|POST|PATCH) \/\S*)`(?=[^\n]* \|)/g)].map(
    ([, one]) => one,
  );
  const there = world.app.routes
    .filter(({ path }) => path !== '/*')
    .map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(listed)].sort()).toEqual(there.sort());
});

it('says where a token is needed', async () => {
  expect((await document()).security).toBeUndefined();
  const { security, paths } = await document('secret');
  expect(security).toEqual([{ token: [] }]);
  expect(paths['/healthz']!.get!.security).toEqual([]);
  expect(paths['/drain']!.post!.security).toBeUndefined();
});

it('shows limits that a request is held to', async () => {
  const told = JSON.stringify(await document());
  expect(told).toContain('"maximum":100000');
  expect(told).toContain('"additionalProperties":false');
});
