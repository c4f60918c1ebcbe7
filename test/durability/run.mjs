// @ts-check
/**
 * `npm run test:durability`: processes of jobq-dev on a local database are killed with SIGKILL at
 * random moments, and after each kill the next one has to start and to hold all that was
 * acknowledged (docs/reliability.md, "What a local database can lose").
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Random } from '../support/random.mjs';
import { BREAKS, brokenCopy } from './broken.mjs';
import { Ledger } from './ledger.mjs';
import { makeOldDatabase } from './old-database.mjs';
import { jobqDev, PHASES, startEmulator } from './phases.mjs';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));
const USAGE = `npm run test:durability -- [--kills n] [--seed n] [--break ${Object.keys(BREAKS).join('|')}]`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string' },
    break: { type: 'string' },
    help: { type: 'boolean' },
  },
});

/** @typedef {import('./phases.mjs').Run} Run */

/** So that each phase comes as often as its weight says, in an order by the seed. @param {Random} random @param {number} kills */
function schedule(random, kills) {
  const all = Object.entries(PHASES).flatMap(([name, { weight }]) => Array(weight).fill(name));
  const names = [];
  while (names.length < kills) names.push(...random.shuffled(all));
  return names.slice(0, kills);
}

/** A folder with handlers and settings. @param {string} cwd */
function prepare(cwd) {
  mkdirSync(path.join(cwd, 'handlers'), { recursive: true });
  writeFileSync(path.join(cwd, 'handlers/good.sh'), 'true\n');
  writeFileSync(path.join(cwd, 'handlers/bad.sh'), 'echo broken >&2; exit 1\n');
  const settings = { cron: '* * * * * *', concurrency: 8, retry: 'seconds', keepJobs: 1_000_000 };
  writeFileSync(path.join(cwd, 'jobq.config.json'), JSON.stringify(settings));
}

/** How long each phase takes on this machine, undisturbed. @param {Run} run */
async function measure(run) {
  const timed = async (/** @type {() => Promise<unknown>} */ work) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  let emulator = startEmulator(run);
  run.usual.firstStartMs = await timed(() => emulator.ready);
  emulator.signal('SIGTERM');
  await emulator.ended;
  emulator = startEmulator(run);
  run.usual.startMs = await timed(() => emulator.ready);
  emulator.signal('SIGTERM');
  run.usual.closeMs = await timed(() => emulator.ended);
  const dataDir = path.join(run.cwd, 'measured');
  await makeOldDatabase(run.oldDir);
  cpSync(run.oldDir, dataDir, { recursive: true });
  run.usual.migrateMs = await timed(() => jobqDev(run, ['migrate', '--data-dir', dataDir]).ended);
}

/** What the table says now, by the next start. @param {Run} run */
async function look(run) {
  const settled = new Map(run.ledger.settled);
  const emulator = startEmulator(run);
  const jobs = await emulator.jobs();
  await emulator.kill();
  run.faults.push(...run.ledger.faults(jobs, settled));
  return jobs;
}

/** @param {Run} run @param {number} kills */
async function killAgainAndAgain(run, kills) {
  const figures = Object.fromEntries(
    Object.keys(PHASES).map((name) => [name, { kills: 0, inside: 0 }]),
  );
  for (const name of schedule(run.random, kills)) {
    const figure = /** @type {{ kills: number, inside: number }} */ (figures[name]);
    if (await PHASES[name]?.kill(run)) figure.inside += 1;
    figure.kills += 1;
    await look(run);
    if (run.faults.length > 0) throw new Error(`after a kill ${name}`);
  }
  return figures;
}

/** @returns {Promise<number>} the exit status */
async function main() {
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const kills = Number(values.kills);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  if (!(kills > 0) || !Number.isInteger(seed)) throw new Error(USAGE);
  const broken = values.break === undefined ? '' : ` --break ${values.break}`;
  console.log(`npm run test:durability -- --kills ${kills} --seed ${seed}${broken}`);

  const scratch = mkdtempSync(path.join(tmpdir(), 'jobq-durability-'));
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  let dist = path.join(PACKAGE, 'dist/src');
  if (values.break !== undefined) {
    brokenCopy(PACKAGE, values.break, path.join(scratch, 'broken'));
    dist = path.join(scratch, 'broken/dist/src');
  }
  const cwd = path.join(scratch, 'project');
  prepare(cwd);
  /** @type {Run} */
  const run = {
    dist,
    cwd,
    dataDir: path.join(cwd, '.jobq'),
    oldDir: path.join(scratch, 'old'),
    random: new Random(seed),
    ledger: new Ledger(),
    usual: { firstStartMs: 0, startMs: 0, migrateMs: 0, closeMs: 0 },
    faults: [],
  };
  const started = performance.now();
  let failure;
  try {
    await measure(run);
    const figures = await killAgainAndAgain(run, kills);
    for (const [name, figure] of Object.entries(figures)) {
      console.log(`killed ${name}: ${figure.kills}, in the middle of it ${figure.inside}`);
    }
    const jobs = await look(run);
    const doctor = await jobqDev(run, ['doctor', '--json']).ended;
    const database = JSON.parse(doctor.stdout).findings.find(
      (/** @type {{ what: string }} */ { what }) => what === 'database',
    );
    if (database.state !== 'ok') run.faults.push(database.found);
    console.log(
      `jobs in the table: ${jobs.length}, ${run.ledger.keptUnanswered(jobs)} of them unanswered`,
    );
  } catch (error) {
    failure = /** @type {Error} */ (error);
    console.log(`stopped: ${failure.message}`);
  }
  for (const fault of run.faults.slice(0, 10)) console.log(`  ${fault}`);
  const { inserted, settled } = run.ledger;
  console.log(
    `acknowledged: ${inserted.size} inserts, ${settled.size} ends; not kept: ${run.faults.length}; ${Math.round((performance.now() - started) / 1_000)} s`,
  );
  const wrong = failure !== undefined || run.faults.length > 0;
  if (values.break === undefined) return wrong ? 1 : 0;
  console.log(wrong ? 'caught' : 'NOT CAUGHT');
  return wrong ? 0 : 1;
}

process.exitCode = await main();
