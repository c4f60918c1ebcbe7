// @ts-check
/** One run: trouble for a while, calm until everything has settled, and a look at what is left. */
import path from 'node:path';
import { Random } from '../support/random.mjs';
import { Arena } from './arena.mjs';
import { firstJobsDone, hurry, settleAll } from './calm.mjs';
import { check } from './check.mjs';
import { gather } from './evidence.mjs';
import { HttpInserter, SqlInserter } from './inserts.mjs';
import { leftovers } from './leftovers.mjs';
import { printFigures, printViolations } from './report.mjs';
import { Trouble } from './trouble.mjs';

/** Between two insertions of a few jobs, and between two troubles, on average. */
const INSERT_EVERY_MS = 200;
const TROUBLE_EVERY_MS = 300;
/** Jobs that may wait: everybody is busy, and what is left at the end is soon over. */
const MOST_WAITING = { shared: 24, local: 12 };
/** What is left at the end is over in so long, on a machine that starts a jobq-dev in a second. */
const SETTLE_WITHIN_MS = 60_000;

/**
 * @param {{ cli: string, seed: number, troubleMs: number, leaseMs: number, localAttempts: number }} options
 *   `localAttempts`: the most that a job on PGlite may have
 * @returns {Promise<number>} how many things were wrong
 */
export async function chaos({ cli, seed, troubleMs, leaseMs, localAttempts }) {
  const random = new Random(seed);
  const phases = new Phases();
  const arena = await Arena.open({ cli, leaseMs });
  const destroy = () => arena.destroy();
  process.once('exit', destroy);
  try {
    const ledgers = await perform(arena, random, { troubleMs, localAttempts }, phases);
    const wrong = (await judgeRemains(arena)) + (await judgeJobs(arena, ledgers));
    phases.end('judged');
    console.log(phases.text);
    if (wrong > 0) arena.keepLogs(path.resolve(`chaos-${seed}-logs`));
    return wrong;
  } finally {
    process.off('exit', destroy);
    await arena.close();
  }
}

/**
 * Everything that happens, from the first job to the end of the last process.
 * @param {Arena} arena
 * @param {Random} random
 * @param {{ troubleMs: number, localAttempts: number }} options
 * @param {Phases} phases
 * @returns what was inserted on either side
 */
async function perform(arena, random, { troubleMs, localAttempts }, phases) {
  const shared = new SqlInserter(new Random(random.between(0, 2 ** 31)), {
    everyMs: INSERT_EVERY_MS,
    mostWaiting: MOST_WAITING.shared,
    databaseUrl: arena.databaseUrl,
  });
  const local = new HttpInserter(new Random(random.between(0, 2 ** 31)), {
    everyMs: INSERT_EVERY_MS,
    mostWaiting: MOST_WAITING.local,
    mostAttempts: localAttempts,
    url: () => arena.localEmulator.url,
  });
  const trouble = new Trouble(arena, random);
  const calm = new AbortController();
  const hurrying = hurry(arena, calm.signal);
  shared.start();
  local.start();
  await firstJobsDone(arena);
  const warmUpMs = phases.end('started');

  await trouble.make({ forMs: troubleMs, everyMs: TROUBLE_EVERY_MS });
  await Promise.all([shared.stop(), local.stop()]);
  await trouble.end();
  phases.end('troubled');
  await settleAll(arena, SETTLE_WITHIN_MS + 10 * warmUpMs);
  calm.abort();
  await hurrying;
  phases.end('settled');
  await Promise.all(arena.processes.map((each) => each.stop()));
  phases.end('stopped');
  printFigures('done', trouble.counts);
  return { shared: shared.ledger, local: local.ledger };
}

/** What a run spends its time on. */
class Phases {
  #at = performance.now();
  /** @type {string[]} */
  #ended = [];

  /** @param {string} name @returns {number} how long it took, in milliseconds */
  end(name) {
    const took = performance.now() - this.#at;
    this.#at += took;
    this.#ended.push(`${name} in ${Math.round(took / 1_000)} s`);
    return took;
  }

  get text() {
    return this.#ended.join(', ');
  }
}

/** What the processes did that they may not, and what they left. @param {Arena} arena */
async function judgeRemains(arena) {
  const faults = arena.processes.flatMap((each) => each.faults);
  const wrong = [...faults, ...(await leftovers(arena))];
  for (const what of wrong) console.log(`BROKEN  ${what}`);
  return wrong.length;
}

/**
 * @param {Arena} arena
 * @param {Record<'shared' | 'local', import('./inserts.mjs').Ledger>} ledgers
 */
async function judgeJobs({ databaseUrl, leaseMs, shared, local }, ledgers) {
  const sides = [
    {
      name: 'on Postgres',
      evidence: await gather({ databaseUrl }, shared.effects),
      ledger: ledgers.shared,
      leaseMs,
    },
    {
      name: 'on PGlite',
      evidence: await gather({ dataDir: local.dataDir }, local.effects),
      ledger: ledgers.local,
      leaseMs: 0,
    },
  ];
  let wrong = 0;
  for (const side of sides) {
    const { violations, figures } = check(side.evidence, side.ledger, side.leaseMs);
    printFigures(side.name, Object.entries(figures));
    printViolations(side.name, violations, side.evidence);
    wrong += violations.length;
  }
  return wrong;
}
