// @ts-check
/**
 * `npm run fuzz`: both ports of an emulator are given bytes, messages, requests and statements that
 * no client should send, while others work there as they should (docs/reliability.md).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Random } from '../support/random.mjs';
import { httpCrowd, httpNoise } from './http-noise.mjs';
import { wireCrowd, wireNoise } from './wire-noise.mjs';
import { connect, httpWitness, sqlWitness } from './witnesses.mjs';

const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
/** Connections of noise at a time, on each port. */
const AT_A_TIME = 8;
/** Lines of what is wrong: the rest is more of the same. */
const SHOWN = 20;
const SETTLE_WITHIN_MS = 60_000;
/** Above what it needs when it is idle: statements leave memory of the engine taken. */
const MOST_MEMORY_KIB = 3 * 1024 * 1024;

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const seconds = Number(values.seconds);
if (!Number.isInteger(seed) || !(seconds > 0))
  throw new Error('npm run fuzz -- [--seconds n] [--seed n]');
console.log(`npm run fuzz -- --seconds ${seconds} --seed ${seed}`);

const cwd = mkdtempSync(path.join(tmpdir(), 'jobq-fuzz-'));
mkdirSync(path.join(cwd, 'handlers'));
for (const kind of ['sql', 'http'])
  writeFileSync(path.join(cwd, 'handlers', `${kind}.sh`), 'true\n');
const emulator = spawn(
  process.execPath,
  [CLI, '--json', '--port', '0', '--cron', '* * * * * *', '--retry', 'seconds'],
  {
    cwd,
    env: { ...process.env, JOBQ_PG_STATEMENT_TIMEOUT: '3s', JOBQ_PG_IDLE_IN_TRANSACTION: '500ms' },
    stdio: ['ignore', 'pipe', 'pipe'],
  },
);
/** @type {string[]} */
const wrong = [];
let said = '';
emulator.stderr.setEncoding('utf8').on('data', (text) => {
  said += text;
});
let over = false;
const ended = once(emulator, 'close').then(([status, signal]) => {
  over = true;
  return { status, signal };
});

try {
  const { http, postgres } = await ready();
  await run(http, postgres);
} catch (error) {
  wrong.push(String(error instanceof Error ? (error.stack ?? error) : error));
} finally {
  if (!over) emulator.kill('SIGINT');
  const { status, signal } = await ended;
  if (status !== 130)
    wrong.push(`the emulator ended with ${signal ?? status}; it said last: ${said.slice(-2_000)}`);
  rmSync(cwd, { recursive: true, force: true });
}
for (const line of wrong.slice(0, SHOWN)) console.log(`WRONG ${line}`);
console.log(wrong.length === 0 ? 'all is well' : `${wrong.length} wrong; again: --seed ${seed}`);
process.exitCode = wrong.length === 0 ? 0 : 1;

/** @returns {Promise<{ http: string, postgres: string }>} */
async function ready() {
  for await (const line of createInterface({ input: emulator.stdout })) {
    const { event, urls } = JSON.parse(line);
    if (event !== 'ready') continue;
    // Nobody reads the rest, and it must not be held up by that.
    emulator.stdout.resume();
    return urls;
  }
  throw new Error(`it ended before it was ready: ${said}`);
}

/** @param {string} http @param {string} postgres */
async function run(http, postgres) {
  const httpPort = Number(new URL(http).port);
  const wirePort = Number(new URL(postgres).port);
  const owner = await connect(postgres);
  await owner.query('create table orders (n int primary key)');
  await owner.end();
  const before = openSockets();

  const { witness: sql, end } = sqlWitness(postgres);
  const witnesses = [sql, httpWitness(http)];
  const stop = new AbortController();
  const working = witnesses.map((witness) => witness.run(stop.signal));
  const until = performance.now() + seconds * 1_000;
  let conversations = 0;
  const noises = Array.from({ length: 2 * AT_A_TIME }, async (_, i) => {
    const random = new Random(seed + i);
    while (performance.now() < until && !over) {
      await (i % 2 === 0 ? wireNoise(random, wirePort) : httpNoise(random, httpPort));
      conversations += 1;
    }
  });
  await Promise.all([
    delay((seconds * 1_000) / 2).then(() => crowds(httpPort, wirePort)),
    ...noises,
  ]);
  stop.abort();
  await Promise.all(working);
  await end();
  console.log(`${conversations} connections of noise`);

  for (const { name, promised, unsure, faults, slowestMs } of witnesses) {
    console.log(
      `${name}: ${promised.size} inserted, ${unsure.size} without an answer, ${Math.round(slowestMs)} ms at most`,
    );
    wrong.push(...faults.map((fault) => `${name} ${fault}`));
    if (promised.size === 0) wrong.push(`${name}: nothing was inserted`);
  }
  await compare(postgres, witnesses);
  await calm(before);
}

/** @param {number} httpPort @param {number} wirePort */
async function crowds(httpPort, wirePort) {
  await wireCrowd(wirePort);
  await httpCrowd(httpPort);
}

/**
 * Every acknowledged insert is one row, and its job is done; what was in doubt is whole or not there.
 * @param {string} postgres @param {import('./witnesses.mjs').Witness[]} witnesses
 */
async function compare(postgres, witnesses) {
  const client = await whenThereIsRoom(postgres);
  const open = `select count(*)::int as n from jobs where kind in ('sql', 'http') and status <> 'done'`;
  const until = performance.now() + SETTLE_WITHIN_MS;
  while ((await client.query(open)).rows[0].n > 0 && performance.now() < until) await delay(500);
  for (const { name, promised, unsure } of witnesses) {
    const { rows } = await client.query(
      `select (payload->>'n')::int as n, status from jobs where kind = $1 order by 1`,
      [name],
    );
    const found = new Map(rows.map(({ n, status }) => [n, status]));
    if (found.size !== rows.length)
      wrong.push(`${name}: ${rows.length - found.size} are there twice`);
    for (const n of promised) {
      if (found.get(n) !== 'done') wrong.push(`${name}: ${n} is ${found.get(n) ?? 'not there'}`);
    }
    for (const n of found.keys()) {
      if (!promised.has(n) && !unsure.has(n)) wrong.push(`${name}: ${n} was never inserted`);
    }
  }
  const { rows } = await client.query(
    `select coalesce(n, (payload->>'n')::int) as n
       from orders full join (select payload from jobs where kind = 'sql') j on n = (payload->>'n')::int
      where n is null or payload is null`,
  );
  if (rows.length > 0) wrong.push(`half of a transaction: ${rows.map(({ n }) => n).join(', ')}`);
  await client.end();
}

/** Those of a crowd are let go of one after the other. @param {string} postgres */
async function whenThereIsRoom(postgres) {
  const until = performance.now() + SETTLE_WITHIN_MS;
  for (;;) {
    try {
      return await connect(postgres);
    } catch (error) {
      const { code } = /** @type {{ code?: string }} */ (error);
      if (code !== '53300' || performance.now() > until) throw error;
      await delay(200);
    }
  }
}

/** Nothing is held any more of those that are gone. @param {number} before */
async function calm(before) {
  const until = performance.now() + SETTLE_WITHIN_MS;
  // A few more are the pools of the runtime.
  while (openSockets() > before + 5 && performance.now() < until) await delay(200);
  if (openSockets() > before + 5)
    wrong.push(`${openSockets()} sockets are open, and ${before} were`);
  const memory = Number(
    /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${emulator.pid}/status`, 'utf8'))?.[1],
  );
  console.log(`${Math.round(memory / 1024)} MiB resident`);
  if (memory > MOST_MEMORY_KIB) wrong.push(`${Math.round(memory / 1024)} MiB are resident`);
}

/** The engine's own files become more with the tables that it has touched. */
function openSockets() {
  if (over) return 0;
  const folder = `/proc/${emulator.pid}/fd`;
  return readdirSync(folder).filter((name) => targetOf(`${folder}/${name}`).startsWith('socket:'))
    .length;
}

/** @param {string} link */
function targetOf(link) {
  try {
    return readlinkSync(link);
  } catch {
    return ''; // closed meanwhile
  }
}
