// @ts-check
/** Clients of the Postgres port that send what no client should. */

import { mutated, noise } from './mutate.mjs';
import { crowd, send } from './sockets.mjs';

/** @typedef {import('../support/random.mjs').Random} Random */

/** @param {string} type @param {...(Buffer | string)} parts */
function message(type, ...parts) {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)),
  );
  const header = Buffer.alloc(5);
  header.write(type);
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

/** @param {...number} values */
function int16(...values) {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [i, value] of values.entries()) bytes.writeInt16BE(value, 2 * i);
  return bytes;
}

/** @param {...number} values */
function int32(...values) {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeInt32BE(value, 4 * i);
  return bytes;
}

/** @param {string} parameters */
function startup(parameters) {
  const body = Buffer.concat([int32(3 << 16), Buffer.from(parameters)]);
  return Buffer.concat([int32(body.length + 4), body]);
}

const STARTUP = startup('user\0postgres\0database\0postgres\0application_name\0noise\0\0');
const PACKETS = [
  STARTUP,
  startup('user\0nobody\0options\0-c work_mem=1MB\0\0'),
  startup('user\0postgres\0work_mem\0nonsense\0\0'),
  startup('user\0postgres\0replication\0true\0\0'),
  startup('\0'),
  Buffer.concat([int32(8, 80877103), STARTUP]),
  int32(8, 80877104),
  int32(16, 80877102, 1_001, 12_345),
];

const SYNC = message('S');
/** @param {string} sql */
const extended = (sql) => [
  message('P', '', sql, int16(0)),
  message('B', '', '', int16(0, 0, 0)),
  message('D', Buffer.from('P'), ''),
  message('E', '', int32(0)),
  SYNC,
];

/** Statements that are hard on whoever runs them. What they make is theirs alone. */
const HARD = [
  `select ${'('.repeat(5_000)}1${')'.repeat(5_000)}`,
  `select '${'['.repeat(100_000)}'::jsonb`,
  `select 'a' ~ '${'(a*)*'.repeat(20)}b'`,
  `select repeat('x', 1000) from generate_series(1, 20000)`,
  "begin; insert into jobs (kind, payload) values ('noise', '{}')",
  'begin; select 1/0',
  'create temp table mine as select g from generate_series(1, 1000) g',
  `set statement_timeout = 50; set work_mem = '64kB'; select pg_sleep(1)`,
  "copy (select 1) to program 'cat'",
  `copy jobs from '/etc/passwd'`,
  'copy jobs (kind, payload) from stdin',
  'copy jobs to stdout',
  'listen noise; notify noise',
  'select pg_advisory_lock(42)',
  'prepare p as select $1::int; execute p (1)',
  'declare c cursor with hold for select generate_series(1, 1000)',
  "do $$ begin perform pg_sleep(0.01); raise exception 'no'; end $$",
  'create database other',
  'discard all',
  '',
  ';;;',
  `select '\u{1F600}'`,
];

/** Statements that have to be stopped: the engine is opened again for each of them. */
const ENDLESS = [
  `select repeat('x', 200000000)`,
  'select count(*) from generate_series(1, 30000000)',
  'select pg_sleep(60)',
];

/** @param {Random} random @returns {Buffer[]} */
function conversation(random) {
  const pieces = [];
  for (let n = random.between(1, 6); n > 0; n -= 1) {
    const sql = /** @type {string} */ (random.pick(random.chance(0.005) ? ENDLESS : HARD));
    const what = random.weighted({ query: 4, extended: 4, copy: 2, other: 1, noise: 1 });
    if (what === 'query') pieces.push(message('Q', sql));
    else if (what === 'extended') pieces.push(...extended(sql));
    else if (what === 'copy') {
      pieces.push(message('Q', 'copy jobs (kind, payload) from stdin'));
      pieces.push(message('d', Buffer.from('noise\t{}\n')), message('d', noise(random, 200)));
      pieces.push(random.chance(0.5) ? message('c') : message('f', 'no more'));
    } else if (what === 'other') {
      pieces.push(
        message('F', int32(1_598), int16(0), int16(0), int16(0)),
        message('C', Buffer.from('S'), 'none'),
        message('H'),
        message('p', 'a password'),
      );
    } else pieces.push(noise(random, 400));
  }
  return pieces;
}

/** @param {Random} random @param {Buffer} piece */
function spoiled(random, piece) {
  return random.chance(0.3) ? mutated(random, piece) : piece;
}

/** One client, from its first byte to its end. @param {Random} random @param {number} port */
export async function wireNoise(random, port) {
  const way = random.weighted({ noise: 1, startup: 2, talk: 6, invalid: 1 });
  if (way === 'noise') return send(random, port, [noise(random, 2_000)]);
  const packet = /** @type {Buffer} */ (random.pick(PACKETS));
  if (way === 'startup')
    return send(random, port, [spoiled(random, packet), ...conversation(random)]);
  if (way === 'invalid') {
    const invalid = Buffer.concat([
      Buffer.from(`select '`),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from(`'\0`),
    ]);
    return send(random, port, [STARTUP, message('Q', invalid), message('Q', 'select 1')]);
  }
  return send(random, port, [
    STARTUP,
    ...conversation(random).map((piece) => spoiled(random, piece)),
  ]);
}

/** @param {number} port */
export function wireCrowd(port) {
  return crowd(port, 1_000, STARTUP);
}
