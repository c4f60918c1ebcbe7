/**
 * What a large table costs, in rows that a statement reads: the same on any machine. How long that
 * takes is for `npm run bench growth`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#src/db/port.js';
import { claim } from '#src/queue/claim.js';
import { findJob } from '#src/queue/find.js';
import { showJob } from '#src/queue/inspect.js';
import { placeInLine } from '#src/queue/line.js';
import { listJobs } from '#src/queue/list.js';
import { nextDue } from '#src/queue/next-due.js';
import { countPrunable, prune } from '#src/queue/prune.js';
import { reap } from '#src/queue/reap.js';
import { COUNTED, stats } from '#src/queue/stats.js';
import { freshDatabase, freshMemoryDatabase } from '../support/postgres.js';

const NOW = new Date('2026-05-01T12:00:00Z');
const DONE = 25_000;
const PENDING = 25_000;
const YEAR_MS = 365 * 86_400_000;

/** The pending jobs are newer than the done ones, and all due. */
async function fill(db: Database): Promise<void> {
  await db.query(
    `insert into jobs (kind, payload, status, attempts, run_after, finished_at)
     select 'work', '{}', 'done', 1, at, at from generate_series(1, $1::int) as n,
       lateral (select timestamptz '2026-04-01' + n * interval '1 second' as at) as moment`,
    [DONE],
  );
  await db.query(
    `insert into job_attempts (job_id, attempt, claim_id, started_at, finished_at, outcome, exit_code)
     select id, 1, gen_random_uuid(), run_after, finished_at, 'exited', 0 from jobs`,
  );
  await db.query(
    `insert into jobs (kind, payload, run_after)
     select 'work', '{}', '2026-04-20' from generate_series(1, $1::int)`,
    [PENDING],
  );
  // What changed is counted before the analyze that follows, not after it.
  await db.query('select pg_stat_force_next_flush()');
}

describe.each([
  ['PGlite', freshMemoryDatabase],
  ['Postgres', freshDatabase],
] as const)('a large table on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
    await fill(db);
    await db.exec('analyze');
  });
  afterAll(() => db.close());

  /** Rows and index entries that were read so far. */
  async function read(): Promise<number> {
    await db.query('select pg_stat_force_next_flush()');
    const { rows } = await db.query<{ read: number }>(
      `select ((select sum(seq_tup_read) from pg_stat_user_tables)
             + (select sum(idx_tup_read) from pg_stat_user_indexes))::float8 as read`,
    );
    return rows[0]!.read;
  }

  const list = (filter: object) => (on: Database) => listJobs(on, { limit: 50, ...filter });

  it.each<[string, (on: Database) => Promise<unknown>, number]>([
    ['reap', (on) => reap(on, { now: NOW, leaseMs: 1 }), 10],
    ['next due', nextDue, 10],
    // Pending jobs up to the bound; the newest 1,000 attempts, twice.
    ['stats', (on) => stats(on, { now: NOW }), COUNTED + 2_100],
    ['list', list({}), 60],
    ['list of pending jobs', list({ status: 'pending' }), 60],
    ['list of older pending jobs', list({ status: 'pending', before: '30000' }), 60],
    ['list of pending jobs below all of them', list({ status: 'pending', before: '20000' }), 60],
    ['list of done jobs, which all are older', list({ status: 'done' }), 60],
    ['list of dead jobs', list({ status: 'dead' }), 60],
    // 50 of each state that has some, and the 50 that are shown.
    ['list of a kind', list({ kind: 'work' }), 160],
    ['list of a kind that is done', list({ kind: 'work', status: 'done' }), 110],
    ['list of a kind that there is not', list({ kind: 'none' }), 10],
    ['show', (on) => showJob(on, '50'), 10],
    [
      'place in line',
      async (on) => placeInLine(on, { job: await findJob(on, `${DONE + PENDING}`), now: NOW }),
      1_010,
    ],
    [
      'place in line of the first',
      async (on) => placeInLine(on, { job: await findJob(on, `${DONE + 1}`), now: NOW }),
      10,
    ],
    ['prune with nothing to do', (on) => prune(on, { now: NOW, keep: { ageMs: YEAR_MS } }), 10],
    [
      'a count of what would be pruned',
      (on) => countPrunable(on, { now: NOW, keep: { ageMs: YEAR_MS } }),
      10,
    ],
  ])('%s reads few rows', async (_what, work, most) => {
    await work(db);
    const before = await read();
    await work(db);
    expect((await read()) - before).toBeLessThanOrEqual(most);
  });

  it('is counted up to a bound, and estimated above it', async () => {
    const { counts, due, estimated } = await stats(db, { now: NOW });
    expect(estimated).toEqual(['pending', 'done', 'due']);
    expect(counts).toMatchObject({ running: 0, dead: 0 });
    for (const number of [counts.pending, counts.done, due]) {
      expect(number).toBeGreaterThan(20_000);
      expect(number).toBeLessThan(30_000);
    }
    expect(await stats(db, { now: NOW, exact: true })).toMatchObject({
      counts: { pending: PENDING, running: 0, done: DONE, dead: 0 },
      due: PENDING,
      estimated: [],
    });
  });

  it('says how long a line is up to a bound', async () => {
    const job = await findJob(db, `${DONE + PENDING}`);
    expect(await placeInLine(db, { job, now: NOW })).toEqual({ ahead: 1_001, running: 0 });
    const tenth = await findJob(db, `${DONE + 10}`);
    expect(await placeInLine(db, { job: tenth, now: NOW })).toEqual({ ahead: 9, running: 0 });
  });
});

describe.each([
  ['PGlite', freshMemoryDatabase],
  ['Postgres', freshDatabase],
] as const)('statistics that are out of date on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
    await fill(db);
    await db.exec('analyze');
    await db.query(`delete from jobs where status = 'done' and id > 5`);
    await db.query('select pg_stat_force_next_flush()');
  });
  afterAll(() => db.close());

  const counted = async () => {
    const { counts, estimated } = await stats(db, { now: NOW });
    expect(estimated).toEqual(['pending', 'due']);
    return counts;
  };

  it('are not believed: few jobs are counted, however many they were', async () => {
    expect((await counted()).done).toBe(5);
  });

  it('are not believed either when a crash has lost what changed since', async () => {
    await db.query(`select pg_stat_reset_single_table_counters('jobs'::regclass)`);
    expect((await counted()).done).toBe(5);
  });
});

describe.each([
  ['PGlite', freshMemoryDatabase],
  ['Postgres', freshDatabase],
] as const)('a burst that nobody has analyzed on %s', (_name, open) => {
  it('is at least as large as was counted', async () => {
    const db = await open();
    await db.query(
      `insert into jobs (kind, payload, run_after)
       select 'work', '{}', case when n <= $1::int then $2::timestamptz else 'infinity' end
       from generate_series(1, 2 * $1) as n`,
      [COUNTED, NOW],
    );
    expect(await stats(db, { now: NOW })).toMatchObject({
      counts: { pending: COUNTED, running: 0, done: 0, dead: 0 },
      due: COUNTED,
      estimated: ['pending'],
    });
    await claim(db, { limit: 3, now: NOW, provider: 'process', isolation: 'none' });
    expect(await stats(db, { now: NOW })).toMatchObject({
      counts: { running: 3 },
      due: COUNTED - 3,
    });
    await db.close();
  });
});
