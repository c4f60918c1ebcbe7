// @ts-check
/** Clients of the HTTP port that send what no client should. */

import { mutated, noise } from './mutate.mjs';
import { crowd, send } from './sockets.mjs';

/** @typedef {import('../support/random.mjs').Random} Random */

/** None of them stops the emulator, or deletes what witnesses have inserted. */
const PATHS = [
  '/healthz',
  '/readyz',
  '/info',
  '/stats?estimate=maybe',
  '/overview',
  '/events?after=nonsense',
  '/openapi.json',
  '/metrics',
  '/jobs',
  '/jobs?limit=1e9&before=%00&status=%F0%9F',
  '/jobs/99999999999999999999999',
  '/jobs/1/explain',
  '/jobs/%2e%2e/logs?follow=true',
  '/arrivals',
  '/nothing',
  '/%',
  `/${'a'.repeat(5_000)}`,
];

const BODIES = [
  '{"kind":"noise","payload":{}}',
  '[]',
  `${'['.repeat(50_000)}`,
  `{"kind":"noise","payload":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
  '{"kind":"../../etc/passwd","payload":"\\u0000"}',
  '{"kind":"noise","payload":"\\ud800"}',
  `{"kind":"${'k'.repeat(100_000)}","payload":{}}`,
  '{"kind":1}',
  'null',
  '',
];

/** @param {Random} random @returns {Buffer} */
function request(random) {
  const method = random.pick(['GET', 'GET', 'POST', 'PATCH', 'PUT', 'HEAD', 'OPTIONS', 'BREW']);
  const body = Buffer.from(/** @type {string} */ (random.pick(BODIES)));
  const length = random.pick([body.length, body.length, body.length + 1_000, 0, -1, 2 ** 40]);
  const host = random.pick(['127.0.0.1', '127.0.0.1', 'evil.example', '']);
  const more = random.pick([
    '',
    '',
    `X: ${'x'.repeat(20_000)}\r\n`,
    'Transfer-Encoding: chunked\r\n',
    'Expect: 100-continue\r\n',
    'Origin: http://evil.example\r\n',
  ]);
  const path = method === 'POST' || method === 'PATCH' ? '/jobs' : random.pick(PATHS);
  const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** One connection, from its first byte to its end. @param {Random} random @param {number} port */
export async function httpNoise(random, port) {
  if (random.chance(0.1)) return send(random, port, [noise(random, 2_000)]);
  const requests = Array.from({ length: random.between(1, 4) }, () => request(random));
  return send(
    random,
    port,
    requests.map((bytes) => (random.chance(0.3) ? mutated(random, bytes) : bytes)),
  );
}

/** @param {number} port */
export function httpCrowd(port) {
  return crowd(port, 1_000, Buffer.from('GET /healthz HTTP/1.1\r\nHost: 127'));
}
