// @ts-check
/** Connections that do not behave. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** @typedef {import('../support/random.mjs').Random} Random */

/** How long an answer is waited for. What is over its limit is ended by then. Milliseconds. */
const PATIENCE_MS = 4_000;

/**
 * Sends pieces, in one of the ways in which clients go wrong.
 * @param {Random} random @param {number} port @param {readonly Buffer[]} pieces
 * @returns {Promise<void>} resolves when the connection is over
 */
export async function send(random, port, pieces) {
  const ending = random.weighted({ wait: 4, vanish: 4, halfOpen: 1, unread: 1 });
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: ending === 'halfOpen' });
  const over = once(socket, 'close').catch(() => {});
  // To be refused, and to be cut off, is what it is there for.
  socket.on('error', () => {});
  if (ending === 'unread') socket.pause();
  else socket.resume();
  const leave = new AbortController();
  void over.then(() => leave.abort());
  for (const piece of pieces) {
    if (!socket.writable) break;
    socket.write(piece);
    if (random.chance(0.2))
      await delay(random.between(0, 30), undefined, { signal: leave.signal }).catch(() => {});
  }
  if (ending === 'halfOpen') socket.end();
  const patienceMs = ending === 'vanish' ? random.between(0, 50) : random.between(50, PATIENCE_MS);
  await delay(patienceMs, undefined, { signal: leave.signal }).catch(() => {});
  socket.destroy();
  await over;
}

/**
 * A crowd that connects at the same time and says nothing.
 * @param {number} port @param {number} count @param {Buffer} greeting
 */
export async function crowd(port, count, greeting) {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(greeting);
    return socket.resume();
  });
  await Promise.race([
    Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => {}))),
    delay(5_000),
  ]);
  const closed = sockets.map((socket) => (socket.destroyed ? undefined : once(socket, 'close')));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
}
