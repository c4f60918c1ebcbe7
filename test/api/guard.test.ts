import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import type { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '#src/api/app.js';
import type { Service } from '#src/api/service.js';

/** What reached the service. */
let calls: string[];
let app: Hono;
let server: ServerType;
let port: number;

beforeEach(async () => {
  calls = [];
  const service = new Proxy({} as Service, {
    get: (_none, name) => () => {
      calls.push(String(name));
      return {};
    },
  });
  app = createApp(service);
  await new Promise<void>((resolve) => {
    server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => resolve());
  });
  port = (server.address() as AddressInfo).port;
});
afterEach(() => new Promise<void>((resolve) => void server.close(() => resolve())));

/** A request with headers of the caller's choice, as any program or page could send it. */
function send(
  headers: Record<string, string>,
  { method = 'GET', path = '/info', body = '' } = {},
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, method, path, agent: false, headers },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode!, text, headers: response.headers }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

describe('a request', () => {
  it.each([
    'localhost',
    'localhost:5627',
    'LOCALHOST:1',
    '127.0.0.1',
    '127.0.0.1:5627',
    '[::1]',
    '[::1]:5627',
  ])('by the name %s is answered', async (host) => {
    expect((await send({ host })).status).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:5627',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example#localhost',
    'localhost@evil.example',
    'xlocalhost',
    'localhost:5627.evil.example',
    'localhost:x',
    '127.0.0.11',
    '0.0.0.0:5627',
    '192.168.0.1:5627',
    '[::2]',
    '::1',
  ])('by the name %s is refused (process-compose GHSA-5gm3-9crp-6g3v)', async (host) => {
    const response = await app.request('http://127.0.0.1/info', { headers: { host } });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      status: 403,
      code: 'usage',
      detail: expect.stringContaining(`Host ${JSON.stringify(host)} is refused`),
      hint: expect.stringMatching(/127\.0\.0\.1/),
    });
    // Over the wire the server itself refuses what is no host name at all.
    expect([400, 403]).toContain((await send({ host })).status);
  });

  it('without a name is refused', async () => {
    const response = await app.request('http://127.0.0.1/info');
    expect(response.status).toBe(403);
  });

  it.each([
    'http://localhost:3000',
    'https://localhost',
    'http://127.0.0.1:5627',
    'http://[::1]:1',
  ])('of a page on this machine is answered: %s', async (origin) => {
    expect((await send({ host: 'localhost', origin })).status).toBe(200);
  });

  it.each([
    'http://evil.example',
    'https://localhost.evil.example',
    'http://evil.example/localhost',
    'http://localhost@evil.example',
    'http://http://localhost',
    'null',
    'file://',
    '',
    'chrome-extension://abcdef',
  ])('of a foreign page is refused: %j', async (origin) => {
    const { status, text } = await send({ host: 'localhost', origin });
    expect(status).toBe(403);
    expect(JSON.parse(text).detail).toContain(`Origin ${JSON.stringify(origin)} is refused`);
  });

  it('that is refused does nothing, on any route and with any body', async () => {
    const body = '{"kind":"work"}';
    for (const [method, path] of [
      ['POST', '/jobs'],
      ['POST', '/drain'],
      ['GET', '/healthz'],
      ['GET', '/nowhere'],
      ['OPTIONS', '/jobs'],
    ] as const) {
      const content = method === 'POST' ? body : '';
      const options = { method, path, body: content };
      expect((await send({ host: 'evil.example' }, options)).status).toBe(403);
      expect((await send({ host: 'localhost', origin: 'null' }, options)).status).toBe(403);
    }
    expect(calls).toEqual([]);
    expect((await send({ host: 'localhost' }, { method: 'POST', path: '/drain' })).status).toBe(
      200,
    );
    expect(calls).toEqual(['drain']);
  });

  it('is never told that other pages may read the answer', async () => {
    const { headers } = await send({ host: 'localhost', origin: 'http://localhost:3000' });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('a token', () => {
  const TOKEN = 's3cret-~!';
  const guarded = () =>
    createApp(
      new Proxy({} as Service, { get: (_none, name) => () => void calls.push(String(name)) }),
      { token: TOKEN },
    );
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    guarded().request(`http://127.0.0.1${path}`, {
      method,
      headers: { host: 'localhost', ...headers },
    });

  it.each(['Bearer s3cret-~!', 'bearer   s3cret-~!'])('that is right opens: %s', async (given) => {
    expect((await ask('/stats', { authorization: given })).status).toBe(200);
    expect(calls).toEqual(['stats']);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    's3cret-~!',
    'Basic s3cret-~!',
    'Bearer s3cret-~',
    'Bearer s3cret-~!x',
    'Bearer S3CRET-~!',
    'Bearer s3cret-~! s3cret-~!',
  ])('that is not right opens nothing: %s', async (given) => {
    const headers: Record<string, string> = given === undefined ? {} : { authorization: given };
    for (const [method, path] of [
      ['GET', '/stats'],
      ['GET', '/events'],
      ['GET', '/openapi.json'],
      ['POST', '/drain'],
      ['GET', '/nowhere'],
      ['GET', '/stats/../healthz/x'],
    ] as const) {
      const response = await ask(path, headers, method);
      expect(response.status, path).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      const told = await response.json();
      expect(told).toMatchObject({ code: 'usage', hint: expect.stringContaining('JOBQ_TOKEN') });
      expect(JSON.stringify(told)).not.toContain(TOKEN);
    }
    expect(calls).toEqual([]);
  });

  it('is not needed to ask whether it lives', async () => {
    expect((await ask('/healthz')).status).toBe(200);
    expect((await ask('/readyz')).status).toBe(200);
    expect((await ask('/healthz', { host: 'evil.example' })).status).toBe(403);
  });
});
