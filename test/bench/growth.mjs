/**
 * What the queue's statements cost on a table with 1,000,000 done and 100,000 pending jobs, against
 * a table that holds a thousandth of it: as much as they answer with. Then again after an hour of
 * work.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { enqueue } from '#src/queue/enqueue.js';
import { findJob } from '#src/queue/find.js';
import { heartbeat } from '#src/queue/heartbeat.js';
import { showJob } from '#src/queue/inspect.js';
import { placeInLine } from '#src/queue/line.js';
import { listJobs } from '#src/queue/list.js';
import { nextDue } from '#src/queue/next-due.js';
import { prune } from '#src/queue/prune.js';
import { reap } from '#src/queue/reap.js';
import { release } from '#src/queue/release.js';
import { stats } from '#src/queue/stats.js';
import {
  BATCH,
  claimBatch,
  FILLED,
  heldOf,
  hourOfWork,
  LEASE_MS,
  newJobs,
  openFilled,
  settleAll,
} from './grown.mjs';
import { compare, median, report, timed } from './measure.mjs';

const LIMIT = 2;
const ROUNDS = 21;
/** Calls in one measurement of a statement that takes less than a millisecond. */
const CALLS = 10;
const KEEP_YEAR = { ageMs: 365 * 86_400_000 };

const list = (filter) => (db) => listJobs(db, { limit: 50, ...filter });

/** Statements that change nothing here. */
const LOOKS = {
  reap: (db, now) => reap(db, { now, leaseMs: LEASE_MS }),
  'next due': nextDue,
  stats: (db, now) => stats(db, { now }),
  'jobs list': list({}),
  'jobs list --status pending': list({ status: 'pending' }),
  'jobs list --status running': list({ status: 'running' }),
  'jobs list --status done': list({ status: 'done' }),
  'jobs list --status dead': list({ status: 'dead' }),
  'jobs list --kind work1': list({ kind: 'work1' }),
  'jobs list --kind unknown': list({ kind: 'unknown' }),
  'jobs list --kind work1 --status done': list({ kind: 'work1', status: 'done' }),
  'jobs list --kind work1 --status dead': list({ kind: 'work1', status: 'dead' }),
  'jobs list --before 500 --status pending': list({ status: 'pending', before: '500' }),
  'jobs show': (db) => showJob(db, '50'),
  'jobs explain, the last in line': async (db, now) => {
    const {
      jobs: [newest],
    } = await listJobs(db, { status: 'pending', limit: 1 });
    await placeInLine(db, { job: await findJob(db, newest.id), now });
  },
  'prune, nothing to do': (db, now) => prune(db, { now, keep: KEEP_YEAR }),
};

/** One measurement of each statement that works on claims, in milliseconds by name. */
async function claimRound(db, now) {
  const times = {};
  const take = async (name, work) => {
    let result;
    times[name] = await timed(async () => {
      result = await work();
    });
    return result;
  };
  await take('enqueue 20', () => enqueue(db, { jobs: newJobs(BATCH), now }));
  const first = heldOf(await take('claim 20', () => claimBatch(db, now)));
  await take('heartbeat of 20', () => heartbeat(db, { claims: first, now }));
  await take('release 20', () => Promise.all(first.map((held) => release(db, { ...held, now }))));
  const second = await claimBatch(db, now);
  await take('settle 20', () => settleAll(db, second, now));
  return times;
}

async function compareAll({ big, small }, now, when) {
  const rounds = { big: [], small: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.big.push(await claimRound(big, now));
    rounds.small.push(await claimRound(small, now));
  }
  for (const name of Object.keys(rounds.big[0])) {
    const of = (side) => median(rounds[side].map((times) => times[name]));
    report(`${name}, ${when}`, { ours: of('big'), bare: of('small') }, { limit: LIMIT });
  }
  for (const [name, look] of Object.entries(LOOKS)) {
    const round = (db) => () =>
      timed(async () => {
        for (let call = 0; call < CALLS; call += 1) await look(db, now);
      });
    const times = await compare({ rounds: ROUNDS, ours: round(big), bare: round(small) });
    report(`${CALLS} × ${name}, ${when}`, times, { limit: LIMIT });
  }
}

export async function growth() {
  const dir = mkdtempSync(path.join(tmpdir(), 'jobq-bench-'));
  const small = await openFilled(dir, { name: 'small', done: 1_000, pending: 1_000 });
  const big = await openFilled(dir, { name: 'big', done: 1_000_000, pending: 100_000 });
  try {
    await compareAll({ big, small }, FILLED, 'as filled');
    const now = new Date((await hourOfWork(big)).getTime() + 120_000);
    await compareAll({ big, small }, now, 'after an hour of work');
  } finally {
    await big.close();
    await small.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
