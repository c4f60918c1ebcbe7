/**
 * Bytes that no client sends, at the port that listens: an error for that connection alone. For
 * `JOBQ_FUZZ_SECONDS`, or two.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { ask, overHttp } from '#src/api/client.js';
import { serveApp } from './server.js';
import { apiWorld } from './world.js';

const world = apiWorld();
const SECONDS = Number(process.env.JOBQ_FUZZ_SECONDS ?? 2);

/** Sends bytes in pieces on a connection of its own, and reads what comes until it closes. */
async function send(port: number, pieces: readonly Uint8Array[], end: boolean): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let told = '';
  socket.on('data', (bytes) => {
    told += bytes.toString('latin1');
  });
  // A refused write is the server's good right.
  socket.on('error', () => {});
  for (const piece of pieces) if (!socket.destroyed) socket.write(piece);
  if (end) socket.end();
  else setImmediate(() => socket.destroySoon());
  await once(socket, 'close');
  return told;
}

const text = (value: string) => Buffer.from(value, 'latin1');

/** Requests that are nearly right: every part of one, now and then replaced by anything. */
const nearly = fc
  .record({
    method: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS') },
      fc.string(),
    ),
    path: fc.oneof(
      {
        weight: 5,
        arbitrary: fc.constantFrom(
          ...['/jobs', '/jobs/1', '/jobs/retry', '/events', '/advance', '/replay', '/sandbox'],
          ...['/jobs?limit=1&limit=2', '/jobs/%00', '/jobs/%ff', '/jobs?text=%', '/jobs/1/logs'],
          ...['/prune', '/pause', '/stats?exact', '/arrivals?kind=a&kind=b', '//', '/../jobs'],
        ),
      },
      fc.webPath(),
      fc.string(),
    ),
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9', ''),
    host: fc.constantFrom('localhost', 'localhost', '127.0.0.1:1', 'evil.example', '', '[::1'),
    headers: fc.array(
      fc.oneof(
        fc.constantFrom(
          ...['content-length: 5', 'content-length: -1', 'content-length: 99999999999'],
          ...['transfer-encoding: chunked', 'transfer-encoding: gzip', 'expect: 100-continue'],
          ...['connection: upgrade', 'upgrade: h2c', 'content-type: application/json'],
          ...[
            'authorization: Bearer x',
            'last-event-id: x-9',
            'origin: null',
            'content-encoding: br',
          ],
        ),
        fc.string(),
      ),
      { maxLength: 5 },
    ),
    body: fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom(
        ...['{"kind":"work"}', '[{"kind":"work"}', '{"by":"5m"', '{"kind":', '[[[[[[[[', '5\r\n'],
        ...['{"provider":"qemu"}', '{"path":"/etc/passwd"}', '{"__proto__":{}}', '{"kind":1e999}'],
      ),
    ),
  })
  .map(({ method, path, version, host, headers, body }) =>
    text(
      `${[`${method} ${path} ${version}`, `host: ${host}`, ...headers].join('\r\n')}\r\n\r\n${body}`,
    ),
  );

const bytes = fc.oneof(
  { weight: 4, arbitrary: nearly },
  fc.uint8Array({ maxLength: 200 }),
  // A TLS hello, a Postgres startup, an HTTP/2 preface.
  fc.constantFrom(
    Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]),
    Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]),
    text('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  ),
);

it(`whatever is sent for ${SECONDS} s, the next request is answered`, {
  timeout: SECONDS * 1_000 + 120_000,
}, async () => {
  const { url } = await serveApp(world.app);
  const port = Number(new URL(url).port);
  const faults: Error[] = [];
  const listen = (error: Error) => faults.push(error);
  process.on('unhandledRejection', listen).on('uncaughtException', listen);
  onTestFinished(() => {
    process.off('unhandledRejection', listen).off('uncaughtException', listen);
  });
  const until = performance.now() + SECONDS * 1_000;
  let internal = '';
  await fc.assert(
    fc.asyncProperty(
      fc.array(bytes, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(200), { maxLength: 3 }),
      fc.boolean(),
      async (requests, cuts, end) => {
        const all = Buffer.concat(requests);
        const edges = [0, ...cuts.map((cut) => Math.min(cut, all.length)), all.length].sort(
          (a, b) => a - b,
        );
        const pieces = edges.slice(1).map((edge, index) => all.subarray(edges[index], edge));
        const told = await send(port, pieces, end);
        if (told.includes('"code":"internal"')) internal = told;
        expect(internal).toBe('');
      },
    ),
    { numRuns: 1_000_000, interruptAfterTimeLimit: SECONDS * 1_000, markInterruptAsFailure: false },
  );
  expect(performance.now()).toBeGreaterThanOrEqual(until - 1_000);
  expect(await ask(overHttp(url), 'GET', '/readyz')).toBe('{"ok":true}');
  expect(faults).toEqual([]);
});

it('a thousand connections that say nothing keep nobody waiting', async () => {
  const { url } = await serveApp(world.app);
  const port = Number(new URL(url).port);
  const idle: Socket[] = [];
  for (let n = 0; n < 1_000; n += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    // Half of a request, of every second one.
    if (n % 2 === 0)
      socket.write('POST /jobs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{');
    idle.push(socket);
  }
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  expect(await ask(overHttp(url), 'POST', '/jobs', { kind: 'work' })).toBe('{"ids":["1"]}');
  for (const socket of idle) socket.destroy();
});
