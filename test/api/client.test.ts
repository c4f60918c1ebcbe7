import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, inProcess, overHttp, readJob, readJobs, type Send } from '#src/api/client.js';
import { JobqError } from '#src/errors.js';
import { RawJson } from '#src/json.js';
import { apiWorld } from './world.js';

const world = apiWorld();
const servers: (Server | ServerType)[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  }
});

/** A server of any behaviour; its URL. */
async function serverThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers);
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The app behind a real port. */
async function appOverHttp(): Promise<Send> {
  const server = await new Promise<ServerType>((resolve) => {
    const made = serve({ fetch: world.app.fetch, hostname: '127.0.0.1', port: 0 }, () =>
      resolve(made),
    );
  });
  servers.push(server);
  return overHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const failure = (asked: Promise<unknown>): Promise<Error> =>
  asked.then(
    () => new Error('it was answered'),
    (error: Error) => error,
  );

describe.each<[string, () => Send | Promise<Send>]>([
  ['over HTTP', appOverHttp],
  ['in this process', () => inProcess(world.app)],
])('a client %s', (_where, connect) => {
  it('inserts and reads a job, every digit of its payload and its times as dates', async () => {
    const send = await connect();
    const payload = new RawJson('{"id": 1970670598291982290, "text": "🦀"}');
    const run_after = new Date('2030-01-01T00:00:00Z');
    expect(await ask(send, 'POST', '/jobs', { kind: 'work', payload, run_after })).toBe(
      '{"ids":["1"]}',
    );
    const one = readJob(await ask(send, 'GET', '/jobs/1'));
    expect(one).toMatchObject({
      id: '1',
      kind: 'work',
      payload: payload.text,
      run_after,
      created_at: expect.any(Date),
      locked_at: null,
      finished_at: null,
      attempts_log: [],
    });
    const [listed] = readJobs(await ask(send, 'GET', '/jobs'));
    expect(listed).toMatchObject({ id: '1', payload: payload.text, run_after });
  });

  it('reads attempts with their times as dates', async () => {
    const send = await connect();
    await ask(send, 'POST', '/jobs', { kind: 'work' });
    await ask(send, 'POST', '/drain');
    const job = readJob(await ask(send, 'GET', '/jobs/1'));
    expect(job).toMatchObject({
      finished_at: expect.any(Date),
      attempts_log: [{ started_at: expect.any(Date), finished_at: expect.any(Date) }],
    });
  });

  it('throws the error that the server gave: code, message, hint and exit status', async () => {
    const send = await connect();
    const error = await failure(ask(send, 'GET', '/jobs/7'));
    expect(error).toBeInstanceOf(JobqError);
    expect(error).toMatchObject({
      code: 'not-found',
      exitStatus: 1,
      message: 'there is no job "7"',
      hint: 'jobq-dev jobs list shows the jobs and their ids.',
    });
    expect(await failure(ask(send, 'POST', '/jobs', { kin: 'x' }))).toMatchObject({
      code: 'input',
      exitStatus: 2,
      message: 'unknown field "kin", did you mean "kind"?',
    });
  });

  it('sends and receives megabytes whole', async () => {
    const send = await connect();
    const text = '🦀'.repeat(300_000);
    await ask(send, 'POST', '/jobs', { kind: 'work', payload: { text } });
    const { payload } = readJob(await ask(send, 'GET', '/jobs/1'));
    expect(payload === JSON.stringify({ text }).replace('":"', '": "')).toBe(true);
  });
});

describe('an emulator that is not there', () => {
  it('is said to be so, with what to do, when nobody listens', async () => {
    const url = await serverThat(() => {});
    await new Promise((resolve) => servers.splice(0)[0]!.close(resolve));
    expect(await failure(ask(overHttp(url), 'GET', '/info'))).toMatchObject({
      code: 'emulator-unreachable',
      exitStatus: 3,
      message: `the emulator at ${url} does not answer: ECONNREFUSED`,
      hint: expect.stringMatching(/\S/),
    });
  });

  it.each<[string, RequestListener]>([
    ['before its answer', (_request, response) => response.destroy()],
    [
      'in the middle of its answer',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"half":', () => response.destroy());
      },
    ],
  ])('is said to be so when it goes away %s', async (_when, answers) => {
    const url = await serverThat(answers);
    expect(await failure(ask(overHttp(url), 'POST', '/drain'))).toMatchObject({
      code: 'emulator-unreachable',
      message: `the emulator at ${url} does not answer: ECONNRESET`,
    });
  });
});

describe('an answer that is no emulator’s', () => {
  it.each(['<html>502 Bad Gateway</html>', '', 'null', '[]', '7', '{"error":"x"}'])(
    'is told as it came: %j',
    async (text) => {
      const url = await serverThat((_request, response) => {
        response.writeHead(502);
        response.end(text);
      });
      const error = await failure(ask(overHttp(url), 'GET', '/info'));
      expect(error).not.toBeInstanceOf(JobqError);
      expect(error.message).toBe(`GET /info was answered with 502: ${text}`);
    },
  );

  it('of the emulator’s own fault is told by its detail', async () => {
    const url = await serverThat((_request, response) => {
      response.writeHead(500);
      response.end('{"code":"internal","detail":"x of undefined"}');
    });
    const error = await failure(ask(overHttp(url), 'GET', '/info'));
    expect(error).not.toBeInstanceOf(JobqError);
    expect(error.message).toBe('x of undefined');
  });
});
