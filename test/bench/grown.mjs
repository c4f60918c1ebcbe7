/** Tables as large as a queue's become, and an hour of work on them. */
import path from 'node:path';
import { openPglite } from '#src/db/pglite.js';
import { extractTemplate } from '#src/db/template.js';
import { claim } from '#src/queue/claim.js';
import { enqueue } from '#src/queue/enqueue.js';
import { heartbeat } from '#src/queue/heartbeat.js';
import { reap } from '#src/queue/reap.js';
import { settle } from '#src/queue/settle.js';

export const BATCH = 20;
export const LEASE_MS = 1_800_000;
/** When the table stands as it was filled. */
export const FILLED = new Date('2026-05-01T12:00:00Z');

/** An hour of ticks, and the jobs that each of them finds. */
const TICKS = 60;
const JOBS_PER_TICK = 500;

/** Jobs of 20 kinds; one in 10,000 is of a kind of its own. */
const KIND = `case when n % 10000 = 7 then 'rare' else 'work' || n % 20 end`;

/**
 * A new directory with so many jobs in it, each done one with its attempt.
 * @param {string} dir
 * @param {{ name: string, done: number, pending: number }} what
 */
export async function openFilled(dir, { name, done, pending }) {
  const dataDir = path.join(dir, name);
  extractTemplate(dataDir);
  const db = await openPglite({ dataDir });
  // Foreign keys are not checked: the attempts are made beside their jobs, and it takes minutes.
  await db.exec('set session_replication_role = replica');
  for (let from = 1; from <= done; from += 100_000) {
    const range = [from, Math.min(done, from + 99_999)];
    await db.query(
      `insert into jobs (kind, payload, status, attempts, run_after, created_at, finished_at)
       select ${KIND}, '{"a": 1}', 'done', 1, at, at, at
       from generate_series($1::int, $2::int) as n,
         lateral (select timestamptz '2026-04-01' + n * interval '1 second' as at) as moment`,
      range,
    );
    await db.query(
      `insert into job_attempts (job_id, attempt, claim_id, provider, isolation, started_at,
         finished_at, outcome, exit_code, duration_ms, stdout, stderr, stdout_bytes, stderr_bytes)
       select n, 1, gen_random_uuid(), 'process', 'none', at, at, 'exited', 0, 5, '', '', 0, 0
       from generate_series($1::int, $2::int) as n,
         lateral (select timestamptz '2026-04-01' + n * interval '1 second' as at) as moment`,
      range,
    );
  }
  await db.query(
    `insert into jobs (kind, payload, run_after, created_at)
     select ${KIND}, '{"a": 1}', '2026-04-20', '2026-04-20' from generate_series(1, $1::int) as n`,
    [pending],
  );
  await db.exec('set session_replication_role = default');
  await db.exec('vacuum analyze');
  return db;
}

export const newJobs = (count) =>
  Array.from({ length: count }, () => ({ kind: 'work1', payload: '{"a": 1}' }));

export const claimBatch = (db, now) =>
  claim(db, { limit: BATCH, now, provider: 'process', isolation: 'none' });

export const heldOf = (claims) => claims.map(({ id, claim_id }) => ({ id, claimId: claim_id }));

/** Each of the claims ended well. */
export function settleAll(db, claims, now) {
  const nothing = { text: '', totalBytes: 0 };
  return Promise.all(
    heldOf(claims).map((held) =>
      settle(
        db,
        {
          ...held,
          ok: true,
          outcome: 'exited',
          exitCode: 0,
          error: null,
          durationMs: 1,
          stdout: nothing,
          stderr: nothing,
          retryAt: now,
        },
        { now },
      ),
    ),
  );
}

/**
 * What the emulator does in an hour, without its handlers: PGlite has no autovacuum, the tool
 * vacuums after each tick where it is worth it. Not after the last one, so that what is measured
 * then is the table at its worst.
 * @returns the moment of the last tick.
 */
export async function hourOfWork(db) {
  let now = FILLED;
  for (let tick = 1; tick <= TICKS; tick += 1) {
    await db.maintain();
    now = new Date(FILLED.getTime() + tick * 60_000);
    await enqueue(db, { jobs: newJobs(JOBS_PER_TICK), now });
    await reap(db, { now, leaseMs: LEASE_MS });
    for (let done = 0; done < JOBS_PER_TICK; done += BATCH) {
      const claims = await claimBatch(db, now);
      await heartbeat(db, { claims: heldOf(claims), now });
      await settleAll(db, claims, now);
    }
  }
  return now;
}
