// @ts-check
/** The moments at which a process is killed. Each gives back whether it was in the middle of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Emulator } from './emulator.mjs';
import { OLD_JOBS } from './old-database.mjs';

const VACUUM = fileURLToPath(new URL('./vacuum.mjs', import.meta.url));
/** At a time, as an app with a few connections. */
const INSERTERS = 4;
/** Between two inserts of one of them: so that the table does not outgrow the run. */
const INSERT_EVERY_MS = 20;
/** A phase takes longer than it was measured to, at times. */
const LONGER = 1.2;

/**
 * @typedef {{
 *   dist: string, cwd: string, dataDir: string, oldDir: string,
 *   random: import('../support/random.mjs').Random, ledger: import('./ledger.mjs').Ledger,
 *   usual: { firstStartMs: number, startMs: number, migrateMs: number, closeMs: number },
 *   faults: string[],
 * }} Run
 */

/** @param {Run} run @param {string} [dataDir] */
export function startEmulator(run, dataDir = run.dataDir) {
  const cli = path.join(run.dist, 'cli.js');
  return new Emulator({ cli, cwd: run.cwd, dataDir }, (line) => {
    if (dataDir === run.dataDir) run.ledger.note(line);
  });
}

/** Jobs come in over HTTP until the emulator is gone. @param {Run} run @param {Emulator} emulator */
async function insertUntilGone(run, emulator) {
  let gone = false;
  emulator.ended.then(() => {
    gone = true;
  });
  const insertSome = async () => {
    while (!gone) {
      const maxAttempts = run.random.next() < 0.5 ? 1 : 3;
      const kind = run.random.next() < 0.2 ? 'bad' : 'good';
      await emulator.insert(run.ledger, { kind, maxAttempts }).catch((error) => {
        // Cut off by the kill, or turned away by one that is closing.
        if (error instanceof TypeError || error.name === 'AbortError' || gone) return;
        throw error;
      });
      await delay(INSERT_EVERY_MS);
    }
  };
  await Promise.all(Array.from({ length: INSERTERS }, insertSome));
}

/** @type {Record<string, { weight: number, kill: (run: Run) => Promise<boolean> }>} */
export const PHASES = {
  'at work': {
    weight: 8,
    async kill(run) {
      const emulator = startEmulator(run);
      await emulator.ready;
      const inserting = insertUntilGone(run, emulator);
      // As many ends as a busy machine makes it wait for, or a moment before the first.
      await emulator.hasSettled(Math.floor(run.random.within(0, 6)));
      await delay(run.random.within(0, 500));
      await emulator.kill();
      await inserting;
      return true;
    },
  },
  'while it closes': {
    weight: 3,
    async kill(run) {
      const emulator = startEmulator(run);
      await emulator.ready;
      const inserting = insertUntilGone(run, emulator);
      await delay(run.random.within(50, 600));
      emulator.signal('SIGTERM');
      const over = await Promise.race([
        emulator.ended.then(() => true),
        delay(run.random.within(0, run.usual.closeMs * LONGER)).then(() => false),
      ]);
      await emulator.kill();
      await inserting;
      return !over;
    },
  },
  'while it starts': {
    weight: 3,
    async kill(run) {
      const emulator = startEmulator(run);
      await delay(run.random.within(0, run.usual.startMs * LONGER));
      const inside = !emulator.isReady;
      await emulator.kill();
      return inside;
    },
  },
  'at the very first start': {
    weight: 3,
    async kill(run) {
      const dataDir = path.join(run.cwd, 'first');
      rmSync(dataDir, { recursive: true, force: true });
      const killed = startEmulator(run, dataDir);
      await delay(run.random.within(0, run.usual.firstStartMs * LONGER));
      const inside = !killed.isReady;
      await killed.kill();
      const next = startEmulator(run, dataDir);
      const jobs = await next.jobs();
      if (jobs.length > 0) run.faults.push(`${jobs.length} jobs after a very first start`);
      await next.kill();
      return inside;
    },
  },
  'during a migration': {
    weight: 3,
    async kill(run) {
      const dataDir = path.join(run.cwd, 'old');
      rmSync(dataDir, { recursive: true, force: true });
      cpSync(run.oldDir, dataDir, { recursive: true });
      const migrating = jobqDev(run, ['migrate', '--data-dir', dataDir]);
      const over = await Promise.race([
        migrating.ended.then(() => true),
        delay(run.random.within(0, run.usual.migrateMs * LONGER)).then(() => false),
      ]);
      migrating.child.kill('SIGKILL');
      await migrating.ended;
      const stats = jobqDev(run, ['stats', '--json', '--data-dir', dataDir]);
      const { status, stdout, stderr } = await stats.ended;
      if (status !== 0) throw new Error(`${stdout}${stderr}`);
      const { pending, done } = JSON.parse(stdout).counts;
      if (pending + done !== OLD_JOBS) run.faults.push(`${pending + done} jobs after a migration`);
      return !over;
    },
  },
  'during a vacuum': {
    weight: 2,
    async kill(run) {
      const child = spawn(process.execPath, [VACUUM, run.dist, run.dataDir], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'close');
      await Promise.race([once(child.stdout, 'data'), ended]);
      await delay(run.random.within(0, 300));
      const inside = child.exitCode === null;
      child.kill('SIGKILL');
      await ended;
      if (!inside) throw new Error('the vacuum ended by itself');
      return inside;
    },
  },
};

/**
 * A command to its end: its status, what it printed, and what it said beside that.
 * @param {Run} run @param {readonly string[]} args
 */
export function jobqDev(run, args) {
  const child = spawn(process.execPath, [path.join(run.dist, 'cli.js'), ...args], {
    cwd: run.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    child[name].setEncoding('utf8').on('data', (chunk) => {
      said[name] += chunk;
    });
  }
  const ended = once(child, 'close').then(([status]) => ({ status, ...said }));
  return { child, ended };
}
