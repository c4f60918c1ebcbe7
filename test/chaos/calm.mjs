// @ts-check
/** Lets what is left come to its end. */
import { setTimeout as delay } from 'node:timers/promises';
import { ask, connect } from './inserts.mjs';

const LOOK_EVERY_MS = 500;

/** @typedef {import('./arena.mjs').Arena} Arena */

/**
 * Makes the retries that wait on the server due, again and again, as a person may do by SQL, and puts
 * them before all others: who was late with one comes back while the next attempt runs.
 * @param {Arena} arena
 * @param {AbortSignal} signal
 */
export async function hurry({ databaseUrl }, signal) {
  const sql = `
    update jobs set run_after = run_after - interval '1 hour'
    where status = 'pending' and attempts > 0 and run_after > now() - interval '30 minutes'`;
  while (!signal.aborted) {
    await onServer(databaseUrl, sql).catch(() => {}); // it is away
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

/**
 * Resolves when everything has got going: a job is done on either side.
 * @param {Arena} arena
 */
export async function firstJobsDone(arena) {
  for (;;) {
    const done = [await doneShared(arena).catch(() => 0), await doneLocal(arena).catch(() => 0)];
    if (done.every((count) => count > 0)) return;
    await delay(LOOK_EVERY_MS);
  }
}

/**
 * Resolves when nothing is pending or running, or when it takes too long.
 * @param {Arena} arena
 * @param {number} withinMs
 */
export async function settleAll(arena, withinMs) {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    // One that cannot be asked is not over.
    const left = await Promise.all([unsettledShared(arena), unsettledLocal(arena)]).catch(() => [
      1,
    ]);
    if (left.every((count) => count === 0)) return;
    await delay(LOOK_EVERY_MS);
  }
}

/** @param {Arena} arena */
async function unsettledShared({ databaseUrl }) {
  const sql = `select id from jobs where status in ('pending', 'running')`;
  return (await onServer(databaseUrl, sql)).length;
}

/** @param {Arena} arena */
async function unsettledLocal({ localEmulator }) {
  const { counts } = await ask(localEmulator.url, 'GET', '/stats');
  return counts.pending + counts.running;
}

/** @param {Arena} arena */
async function doneShared({ databaseUrl }) {
  return (await onServer(databaseUrl, `select id from jobs where status = 'done' limit 1`)).length;
}

/** @param {Arena} arena */
async function doneLocal({ localEmulator }) {
  return (await ask(localEmulator.url, 'GET', '/stats')).counts.done;
}

/** @param {string} databaseUrl @param {string} sql */
async function onServer(databaseUrl, sql) {
  const client = await connect(databaseUrl);
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
