// @ts-check
/**
 * `npm run chaos`: several jobq-dev on one Postgres and one on PGlite, while they, their handlers,
 * the server and the way between them are killed, stopped and cut at random (docs/reliability.md).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chaos } from './chaos.mjs';
import { fleet } from './fleet.mjs';
import { BREAKS, sabotaged } from './sabotage.mjs';

/** Short, so that what is stopped for longer is soon late; three heartbeats fit in it. */
const LEASE_MS = 4_000;
/** Of trouble. With the start before it and the calm after it, less than a minute. */
const SHORT_MS = 12_000;
const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));

const USAGE = `npm run chaos -- [--short | --minutes n] [--seed n] [--break ${Object.keys(BREAKS).join('|')}]
npm run chaos -- --fleet [--jobs n]`;

const { values } = parseArgs({
  options: {
    short: { type: 'boolean' },
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    break: { type: 'string' },
    fleet: { type: 'boolean' },
    jobs: { type: 'string', default: '20000' },
    help: { type: 'boolean' },
  },
});

/** A run of which something is broken is to fail; of a broken queue, one that finds nothing. */
async function main() {
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (values.fleet) return (await fleet({ cli: CLI, jobs: Number(values.jobs) })) === 0 ? 0 : 1;

  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  const troubleMs = values.short ? SHORT_MS : Number(values.minutes) * 60_000;
  if (!Number.isInteger(seed) || !(troubleMs > 0)) throw new Error(USAGE);
  const again = `npm run chaos -- ${values.short ? '--short' : `--minutes ${values.minutes}`} --seed ${seed}`;
  console.log(`${again}${values.break === undefined ? '' : ` --break ${values.break}`}`);

  const started = performance.now();
  const cli = values.break === undefined ? CLI : sabotagedCopy(values.break);
  const localAttempts = values.short ? 2 : 3;
  const wrong = await chaos({ cli, seed, troubleMs, leaseMs: LEASE_MS, localAttempts });
  console.log(`${wrong} broken, after ${Math.round((performance.now() - started) / 1_000)} s`);
  if (values.break === undefined) return wrong === 0 ? 0 : 1;
  console.log(wrong > 0 ? 'caught' : 'NOT CAUGHT');
  return wrong > 0 ? 0 : 1;
}

/** @param {string} name */
function sabotagedCopy(name) {
  const folder = mkdtempSync(path.join(tmpdir(), 'jobq-broken-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return sabotaged(name, path.join(folder, 'package'));
}

// What is undone at the end of a run is undone at an exit.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => process.exit(130));

process.exitCode = await main();
