/**
 * The whole queue on both databases. Each rule of docs/architecture.md ("The states") has a test;
 * those that come from a bug report of another system name it.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#src/db/port.js';
import type { Attempt, Job } from '#src/job/job.js';
import { cancel } from '#src/queue/cancel.js';
import { CLAIM_SQL, type Claim, claim } from '#src/queue/claim.js';
import { edit } from '#src/queue/edit.js';
import { enqueue, type NewJob } from '#src/queue/enqueue.js';
import { findJob } from '#src/queue/find.js';
import { heartbeat } from '#src/queue/heartbeat.js';
import { showJob } from '#src/queue/inspect.js';
import { listJobs } from '#src/queue/list.js';
import { countPrunable, type Keep, prune } from '#src/queue/prune.js';
import { reap } from '#src/queue/reap.js';
import { release } from '#src/queue/release.js';
import { retry, retryAll } from '#src/queue/retry.js';
import { settle, type Verdict } from '#src/queue/settle.js';
import { stats } from '#src/queue/stats.js';
import { freshDatabase, freshMemoryDatabase } from '../support/postgres.js';

const START = Date.parse('2026-05-01T12:00:00Z');
const LEASE_MS = 1_800_000;

/** The moment `seconds` after the start. */
const at = (seconds: number) => new Date(START + seconds * 1_000);

describe.each([
  ['PGlite', freshMemoryDatabase],
  ['Postgres', freshDatabase],
] as const)('the queue on %s', (_name, open) => {
  let db: Database;

  beforeAll(async () => {
    db = await open();
  });
  afterAll(() => db.close());
  beforeEach(() => db.exec('truncate jobs, job_attempts restart identity'));

  const insert = (...jobs: Partial<NewJob>[]) =>
    enqueue(db, { jobs: jobs.map((job) => ({ kind: 'work', payload: '{}', ...job })), now: at(0) });

  const claimOne = async (seconds = 0): Promise<Claim> => {
    const [claimed] = await claim(db, {
      limit: 1,
      now: at(seconds),
      provider: 'process',
      isolation: 'none',
    });
    expect(claimed).toBeDefined();
    return claimed!;
  };

  const claimMany = (limit: number, seconds = 0) =>
    claim(db, { limit, now: at(seconds), provider: 'process', isolation: 'none' });

  const verdict = (claimed: Claim, more: Partial<Verdict> = {}): Verdict => ({
    id: claimed.id,
    claimId: claimed.claim_id,
    ok: true,
    outcome: 'exited',
    exitCode: 0,
    error: null,
    durationMs: 12,
    stdout: { text: '', totalBytes: 0 },
    stderr: { text: '', totalBytes: 0 },
    retryAt: at(600),
    ...more,
  });

  const failed = (claimed: Claim, error = 'it broke'): Verdict =>
    verdict(claimed, { ok: false, exitCode: 1, error });

  const job = (id: string): Promise<Job> => findJob(db, id);
  const attempts = async (id: string): Promise<Attempt[]> => (await showJob(db, id)).attempts_log;

  describe('enqueue', () => {
    it('returns ids in the order given and uses the given time', async () => {
      const ids = await insert({ kind: 'a' }, { kind: 'b' }, { kind: 'c' });
      expect(ids).toEqual(['1', '2', '3']);
      expect((await job('2')).kind).toBe('b');
      expect(await job('3')).toMatchObject({
        status: 'pending',
        attempts: 0,
        max_attempts: 3,
        run_after: at(0),
        created_at: at(0),
      });
    });

    it.each([
      ['{"id": 1970670598291982290}', '1970670598291982290'],
      [
        '{"a": 0.1000000000000000055511151231257827021181583404541015625}',
        '0.10000000000000000555',
      ],
      ['{"n": 1e400}', `1${'0'.repeat(400)}`],
      ['{"n": 1.10}', '1.10'],
      ['"2\\u0308 \\ud83d\\ude00"', '😀'],
    ])('keeps every digit of %s (riverui 593, faktory 395)', async (payload, kept) => {
      const [id] = await insert({ payload });
      expect((await job(id!)).payload).toContain(kept);
      expect((await claimOne()).payload).toContain(kept);
    });

    it.each([
      ['not JSON', '{"a":', 'not valid JSON', 'ended unexpectedly'],
      ['\\u0000 in a string', '{"a":"\\u0000"}', '\\u0000', 'cannot be converted to text'],
      ['half a character', '{"a":"\\ud83e"}', 'not valid JSON', 'must follow a high surrogate'],
    ])('refuses a payload with %s and inserts nothing', async (_what, payload, reason, more) => {
      await expect(insert({}, { payload })).rejects.toMatchObject({
        code: 'input',
        message: expect.stringContaining(reason),
        hint: expect.stringContaining(more),
      });
      expect((await stats(db, { now: at(0) })).counts.pending).toBe(0);
    });

    it('takes the insert that an app does', async () => {
      await db.query('insert into jobs (kind, payload) values (\'resize\', \'{"file":"a.png"}\')');
      expect(await job('1')).toMatchObject({ status: 'pending', attempts: 0, max_attempts: 3 });
    });
  });

  describe('claim', () => {
    it('takes due jobs in the order of run_after and id, and returns them so', async () => {
      await insert({ runAfter: at(30) }, { runAfter: at(10) }, { runAfter: at(10) }, {});
      const claimed = await claimMany(10, 30);
      expect(claimed.map(({ id }) => id)).toEqual(['4', '2', '3', '1']);
    });

    it('leaves what is not due', async () => {
      await insert({ runAfter: at(60) });
      expect(await claimMany(5, 59.999)).toEqual([]);
      expect(await claimMany(5, 60)).toHaveLength(1);
    });

    it('takes exactly the limit under a forced nested-loop plan (odd-jobs 115)', async () => {
      await enqueue(db, {
        jobs: Array.from({ length: 1_000 }, () => ({ kind: 'work', payload: '{}' })),
        now: at(0),
      });
      await db.transaction(async (tx) => {
        for (const plan of ['hashjoin', 'mergejoin', 'material', 'hashagg', 'sort']) {
          await tx.exec(`set local enable_${plan} = off`);
        }
        const claimed = await claim(tx, {
          limit: 5,
          now: at(0),
          provider: 'process',
          isolation: 'none',
        });
        expect(claimed).toHaveLength(5);
      });
      expect((await stats(db, { now: at(0) })).counts).toMatchObject({ running: 5, pending: 995 });
    });

    it('stamps owner, time and attempt, and puts the attempt on record', async () => {
      await insert({});
      const claimed = await claimOne(5);
      expect(claimed).toMatchObject({ status: 'running', attempts: 1, locked_at: at(5) });
      expect(claimed.claim_id).toMatch(/^[0-9a-f-]{36}$/);
      expect(await attempts('1')).toMatchObject([
        {
          attempt: 1,
          claim_id: claimed.claim_id,
          provider: 'process',
          isolation: 'none',
          started_at: at(5),
          outcome: null,
        },
      ]);
    });

    it('gives each claim another id', async () => {
      await insert({}, {});
      const [one, two] = await claimMany(2);
      expect(one!.claim_id).not.toBe(two!.claim_id);
    });

    it.each([0, -1])('takes nothing for a limit of %i', async (limit) => {
      await insert({});
      expect(await claimMany(limit)).toEqual([]);
    });
  });

  describe('settle', () => {
    it('makes a job done', async () => {
      await insert({});
      const claimed = await claimOne();
      const settled = await settle(db, verdict(claimed), { now: at(2) });
      expect(settled).toMatchObject({ owned: true, status: 'done' });
      expect(await job('1')).toMatchObject({
        status: 'done',
        attempts: 1,
        finished_at: at(2),
        locked_at: null,
        claim_id: null,
        last_error: null,
      });
    });

    it('puts a failed job back for its retry time, with the error', async () => {
      await insert({});
      const settled = await settle(db, failed(await claimOne()), { now: at(2) });
      expect(settled).toMatchObject({ owned: true, status: 'pending', run_after: at(600) });
      expect(await job('1')).toMatchObject({
        status: 'pending',
        attempts: 1,
        run_after: at(600),
        last_error: 'it broke',
        finished_at: null,
      });
    });

    it('makes a job dead when its attempts are used up (oban 137)', async () => {
      await insert({ maxAttempts: 1 });
      const settled = await settle(
        db,
        verdict(await claimOne(), {
          ok: false,
          outcome: 'signaled',
          signal: 'SIGKILL',
          error: 'x',
        }),
        { now: at(2) },
      );
      expect(settled).toMatchObject({ owned: true, status: 'dead' });
      expect(await job('1')).toMatchObject({ status: 'dead', attempts: 1, finished_at: at(2) });
      expect(await attempts('1')).toMatchObject([{ outcome: 'signaled', signal: 'SIGKILL' }]);
    });

    it('records how the attempt went', async () => {
      await insert({});
      const claimed = await claimOne();
      await settle(
        db,
        verdict(claimed, {
          durationMs: 1234.6,
          peakMemoryBytes: 5_000_000_000,
          stdout: { text: 'out', totalBytes: 3 },
          stderr: { text: 'err', totalBytes: 9_000_000_000 },
        }),
        { now: at(2) },
      );
      expect(await attempts('1')).toMatchObject([
        {
          outcome: 'exited',
          exit_code: 0,
          duration_ms: 1235,
          peak_memory_bytes: 5_000_000_000,
          stdout: 'out',
          stderr: 'err',
          stderr_bytes: 9_000_000_000,
          finished_at: at(2),
        },
      ]);
    });

    it.each([
      ['NUL (hatchet 4619)', 'a\0b', 'a\u2400b'],
      ['a lone surrogate', 'a\ud800b', 'a\ufffdb'],
      ['an emoji and a control', '\u001b[31m😀', '\u001b[31m😀'],
    ])('stores an error text with %s', async (_what, error, stored) => {
      await insert({});
      const claimed = await claimOne();
      await settle(
        db,
        { ...failed(claimed, error), stdout: { text: error, totalBytes: 1 } },
        { now: at(1) },
      );
      expect((await job('1')).last_error).toBe(stored);
      expect((await attempts('1'))[0]).toMatchObject({ error: stored, stdout: stored });
    });

    it('lists a job with a 2 MB error without carrying it (good_job 1769)', async () => {
      await insert({});
      await settle(db, failed(await claimOne(), 'x'.repeat(2_000_000)), { now: at(1) });
      const {
        jobs: [listed],
      } = await listJobs(db, { limit: 10 });
      expect(listed!.last_error!.length).toBeLessThanOrEqual(2_000);
    });

    it('changes nothing for a late finisher that succeeded (solid_queue 589, 761)', async () => {
      await insert({});
      const a = await claimOne();
      await reap(db, { now: at(LEASE_MS / 1_000), leaseMs: LEASE_MS });
      const b = await claimOne(LEASE_MS / 1_000);
      const before = await job('1');
      expect(await settle(db, verdict(a), { now: at(4_000) })).toEqual({ owned: false });
      expect(await job('1')).toEqual(before);
      expect(before).toMatchObject({ status: 'running', claim_id: b.claim_id });
      expect(await attempts('1')).toMatchObject([
        { claim_id: a.claim_id, outcome: 'superseded', exit_code: 0 },
        { claim_id: b.claim_id, outcome: null },
      ]);
    });

    it('changes nothing for a late finisher that failed (dbos-transact-ts 1323)', async () => {
      await insert({});
      const a = await claimOne();
      await reap(db, { now: at(LEASE_MS / 1_000), leaseMs: LEASE_MS });
      const b = await claimOne(LEASE_MS / 1_000);
      await settle(db, failed(b, 'B failed'), { now: at(3_700) });
      const before = await job('1');
      expect(await settle(db, failed(a, 'A failed'), { now: at(4_000) })).toEqual({ owned: false });
      expect(await job('1')).toEqual(before);
      expect(before).toMatchObject({
        status: 'pending',
        run_after: at(600),
        last_error: 'B failed',
      });
    });

    it.each([
      ['that succeeded', (claimed: Claim) => verdict(claimed), 'done', 'exited'],
      ['that failed', (claimed: Claim) => failed(claimed), 'pending', 'exited'],
      [
        'that lost its sandbox',
        (claimed: Claim) => ({ ...failed(claimed), outcome: 'lost' as const }),
        'pending',
        'lost',
      ],
    ])(
      'answers again when the answer for an attempt %s got lost',
      async (_what, make, status, outcome) => {
        await insert({});
        const claimed = await claimOne();
        const first = await settle(db, make(claimed), { now: at(2) });
        const [before, record] = [await job('1'), await attempts('1')];
        expect(await settle(db, make(claimed), { now: at(9) })).toEqual(first);
        expect(await job('1')).toEqual(before);
        expect(await attempts('1')).toEqual(record);
        expect(record).toMatchObject([{ outcome, finished_at: at(2) }]);
        expect(first).toMatchObject({ owned: true, status });
      },
    );

    it('answers again as before when the job has been claimed since', async () => {
      await insert({});
      const a = await claimOne();
      await settle(db, failed(a), { now: at(2) });
      await claimOne(600);
      const again = await settle(db, failed(a), { now: at(601) });
      expect(again).toEqual({ owned: true, status: 'pending', run_after: at(600) });
      expect((await attempts('1'))[0]).toMatchObject({ outcome: 'exited' });
    });

    it('is superseded as often as it is sent', async () => {
      await insert({});
      const late = verdict(await claimOne());
      await reap(db, { now: at(LEASE_MS / 1_000), leaseMs: LEASE_MS });
      for (let time = 0; time < 2; time += 1) {
        expect(await settle(db, late, { now: at(4_000) })).toEqual({ owned: false });
        expect(await attempts('1')).toMatchObject([{ outcome: 'superseded' }]);
      }
    });

    it('changes nothing after a cancel', async () => {
      await insert({});
      const claimed = await claimOne();
      await cancel(db, { id: '1', now: at(1) });
      expect(await settle(db, verdict(claimed), { now: at(2) })).toEqual({ owned: false });
      expect(await job('1')).toMatchObject({ status: 'dead', last_error: 'cancelled by hand' });
      expect(await attempts('1')).toMatchObject([
        { outcome: 'superseded', error: 'cancelled by hand' },
      ]);
    });
  });

  describe('release', () => {
    it('gives the attempt back and keeps the place in the line', async () => {
      await insert({ runAfter: at(-5) });
      const claimed = await claimOne();
      const released = await release(db, { id: '1', claimId: claimed.claim_id, now: at(1) });
      expect(released).toBe(true);
      expect(await job('1')).toMatchObject({
        status: 'pending',
        attempts: 0,
        run_after: at(-5),
        locked_at: null,
        claim_id: null,
      });
      expect(await attempts('1')).toMatchObject([{ outcome: 'released', finished_at: at(1) }]);
    });

    it('answers again when the answer got lost, and gives back one attempt only', async () => {
      await insert({});
      await settle(db, failed(await claimOne()), { now: at(1) });
      const { id, claim_id: claimId } = await claimOne(600);
      for (const seconds of [601, 602]) {
        expect(await release(db, { id, claimId, now: at(seconds) })).toBe(true);
      }
      expect((await job('1')).attempts).toBe(1);
      expect((await attempts('1'))[1]).toMatchObject({ outcome: 'released', finished_at: at(601) });
    });

    it('leaves the reason why the claim was taken away', async () => {
      await insert({});
      const { id, claim_id: claimId } = await claimOne();
      await cancel(db, { id, now: at(1) });
      expect(await release(db, { id, claimId, now: at(2) })).toBe(false);
      expect(await attempts('1')).toMatchObject([
        { outcome: 'superseded', error: 'cancelled by hand' },
      ]);
    });

    it('does nothing for a claim that has passed on', async () => {
      await insert({});
      const a = await claimOne();
      await reap(db, { now: at(3_600), leaseMs: LEASE_MS });
      const b = await claimOne(3_600);
      expect(await release(db, { id: '1', claimId: a.claim_id, now: at(3_601) })).toBe(false);
      expect(await job('1')).toMatchObject({ claim_id: b.claim_id, attempts: 2 });
    });
  });

  describe('heartbeat', () => {
    it('renews leases, and says which claims are still held', async () => {
      await insert({}, {});
      const [one, two] = await claimMany(2);
      await cancel(db, { id: '2', now: at(1) });
      const kept = await heartbeat(db, {
        claims: [one!, two!].map(({ id, claim_id }) => ({ id, claimId: claim_id })),
        now: at(1_000),
      });
      expect([...kept]).toEqual([one!.claim_id]);
      expect((await job('1')).locked_at).toEqual(at(1_000));
      expect(await reap(db, { now: at(1_801), leaseMs: LEASE_MS })).toEqual([]);
      expect(await reap(db, { now: at(2_800), leaseMs: LEASE_MS })).toHaveLength(1);
    });

    it('does not renew a lease that has passed to another claim', async () => {
      await insert({});
      const { id, claim_id } = await claimOne();
      await reap(db, { now: at(1_800), leaseMs: LEASE_MS });
      await claimOne(1_800);
      const kept = await heartbeat(db, { claims: [{ id, claimId: claim_id }], now: at(1_900) });
      expect(kept.size).toBe(0);
      expect((await job('1')).locked_at).toEqual(at(1_800));
    });

    it('never takes a lease back in time', async () => {
      await insert({});
      const { id, claim_id } = await claimOne(10);
      await heartbeat(db, { claims: [{ id, claimId: claim_id }], now: at(5) });
      expect((await job('1')).locked_at).toEqual(at(10));
    });
  });

  describe('reap', () => {
    it('returns a job whose lease ran out, and records the attempt as lost', async () => {
      await insert({});
      await claimOne();
      expect(await reap(db, { now: at(1_799.999), leaseMs: LEASE_MS })).toEqual([]);
      const reaped = await reap(db, { now: at(1_800), leaseMs: LEASE_MS });
      expect(reaped).toMatchObject([{ why: 'lease', job: { id: '1', status: 'pending' } }]);
      expect(await job('1')).toMatchObject({
        status: 'pending',
        attempts: 1,
        run_after: at(1_800),
        claim_id: null,
        last_error: expect.stringContaining('lost'),
      });
      expect(await attempts('1')).toMatchObject([{ outcome: 'lost', finished_at: at(1_800) }]);
    });

    it('makes it dead when that was the last attempt (graphile-worker 254)', async () => {
      await insert({ maxAttempts: 1 });
      await claimOne();
      const reaped = await reap(db, { now: at(1_800), leaseMs: LEASE_MS });
      expect(reaped).toMatchObject([{ why: 'lease', job: { status: 'dead', attempts: 1 } }]);
      expect((await job('1')).last_error).toMatch(/lease/);
    });

    it('leaves a job that finished between a look and the reaping (river 1302)', async () => {
      await insert({});
      await settle(db, verdict(await claimOne()), { now: at(1_799) });
      expect(await reap(db, { now: at(9_999), leaseMs: LEASE_MS })).toEqual([]);
      expect((await job('1')).status).toBe('done');
    });

    it('makes a pending job without attempts dead, with a reason (oban 446, 1059)', async () => {
      await db.query(
        `insert into jobs (kind, payload, attempts, max_attempts, last_error, run_after)
         values ('work', '{}', 3, 3, 'earlier', $1)`,
        [at(-1)],
      );
      expect(await claimMany(5)).toEqual([]);
      const reaped = await reap(db, { now: at(0), leaseMs: LEASE_MS });
      expect(reaped).toMatchObject([{ why: 'exhausted', job: { id: '1', status: 'dead' } }]);
      expect((await job('1')).last_error).toBe(
        'no attempts left: attempts (3) had reached max_attempts (3) while the job was pending; before that: earlier',
      );
    });

    it('is done by the next tick when a drainer is killed in the middle (procrastinate 1408)', async () => {
      await insert({}, {});
      await claimMany(2);
      await expect(
        db.transaction(async (tx) => {
          expect(await reap(tx, { now: at(1_800), leaseMs: LEASE_MS })).toHaveLength(2);
          throw new Error('killed before it could commit');
        }),
      ).rejects.toThrow('killed');
      expect((await job('1')).status).toBe('running');
      expect(await reap(db, { now: at(1_860), leaseMs: LEASE_MS })).toHaveLength(2);
    });
  });

  describe('by hand', () => {
    const die = async () => {
      await insert({ maxAttempts: 1 });
      await settle(db, failed(await claimOne()), { now: at(1) });
    };

    it('retries a dead job with all its attempts, keeping the history', async () => {
      await die();
      await retry(db, { id: '1', now: at(100) });
      expect(await job('1')).toMatchObject({
        status: 'pending',
        attempts: 0,
        run_after: at(100),
        finished_at: null,
        last_error: 'it broke',
      });
      await settle(db, verdict(await claimOne(100)), { now: at(101) });
      expect((await attempts('1')).map(({ attempt }) => attempt)).toEqual([1, 1]);
    });

    it('retries all dead jobs of a kind', async () => {
      await insert({ kind: 'a', maxAttempts: 1 }, { kind: 'b', maxAttempts: 1 });
      for (const claimed of await claimMany(2)) await settle(db, failed(claimed), { now: at(1) });
      expect(await retryAll(db, { kind: 'a', now: at(2) })).toBe(1);
      expect((await job('2')).status).toBe('dead');
      expect(await retryAll(db, { now: at(3) })).toBe(1);
    });

    it('refuses to retry what is not dead', async () => {
      await insert({});
      await expect(retry(db, { id: '1', now: at(1) })).rejects.toMatchObject({ code: 'conflict' });
    });

    it('cancels a pending job', async () => {
      await insert({});
      const { claimId } = await cancel(db, { id: '1', now: at(1) });
      expect(claimId).toBeUndefined();
      expect(await job('1')).toMatchObject({
        status: 'dead',
        finished_at: at(1),
        last_error: 'cancelled by hand',
      });
    });

    it('cancels a running job and names the claim to kill', async () => {
      await insert({});
      const claimed = await claimOne();
      const { claimId } = await cancel(db, { id: '1', now: at(1) });
      expect(claimId).toBe(claimed.claim_id);
      expect(await job('1')).toMatchObject({ status: 'dead', claim_id: null, locked_at: null });
      // Its drainer may be dead: then nobody else ends the record of the attempt.
      expect(await attempts('1')).toMatchObject([
        { outcome: 'lost', error: 'cancelled by hand', finished_at: at(1) },
      ]);
      await expect(cancel(db, { id: '1', now: at(2) })).rejects.toMatchObject({ code: 'conflict' });
    });

    it('edits a pending job in place, digits kept', async () => {
      await insert({});
      const changes = { payload: '{"id":1970670598291982290}', runAfter: at(50), maxAttempts: 9 };
      const edited = await edit(db, { id: '1', changes, now: at(1) });
      expect(edited).toMatchObject({
        id: '1',
        payload: '{"id": 1970670598291982290}',
        run_after: at(50),
        max_attempts: 9,
      });
    });

    it('runs an edited copy of a job that is over, which names its parent', async () => {
      await die();
      const copy = await edit(db, { id: '1', changes: { payload: '[2]' }, now: at(5) });
      expect(copy).toMatchObject({
        id: '2',
        parent_id: '1',
        payload: '[2]',
        status: 'pending',
        attempts: 0,
        max_attempts: 1,
      });
      expect((await job('1')).status).toBe('dead');
    });

    it('refuses to edit a running job', async () => {
      await insert({});
      await claimOne();
      await expect(edit(db, { id: '1', changes: {}, now: at(1) })).rejects.toMatchObject({
        code: 'conflict',
      });
    });

    it('refuses a max_attempts below the attempts used, and changes nothing', async () => {
      await insert({});
      await settle(db, failed(await claimOne()), { now: at(1) });
      await settle(db, failed(await claimOne(600)), { now: at(601) });
      await expect(
        edit(db, { id: '1', changes: { maxAttempts: 1, payload: '[]' }, now: at(602) }),
      ).rejects.toMatchObject({ code: 'input', message: expect.stringContaining('max_attempts') });
      expect(await job('1')).toMatchObject({ max_attempts: 3, payload: '{}' });
    });

    it.each(['0', '99', 'abc', '-1', '9'.repeat(40), "1'; drop table jobs"])(
      'says that there is no job %j',
      async (id) => {
        await expect(findJob(db, id)).rejects.toMatchObject({
          code: 'not-found',
          message: expect.stringContaining(JSON.stringify(id)),
        });
      },
    );
  });

  describe('prune', () => {
    const DAY = 86_400;
    const done = async (finishedAt: Date, runAfter = finishedAt) => {
      const { rows } = await db.query<{ id: string }>(
        `insert into jobs (kind, payload, status, attempts, finished_at, run_after)
         values ('work', '{}', 'done', 1, $1, $2) returning id`,
        [finishedAt, runAfter],
      );
      return rows[0]!.id;
    };
    const week = { ageMs: 7 * DAY * 1_000, count: 10_000 };

    it('goes by when a job finished, not by when it was due (oban 1145)', async () => {
      const late = await done(at(0), at(-8 * DAY));
      const old = await done(at(-8 * DAY));
      expect(await prune(db, { now: at(1), keep: week })).toEqual([old]);
      expect((await job(late)).status).toBe('done');
    });

    it('keeps the newest, and leaves what is not done', async () => {
      const ids = [];
      for (const second of [1, 2, 3, 4]) ids.push(await done(at(second)));
      await insert({ maxAttempts: 1 });
      await settle(db, failed(await claimOne()), { now: at(-30 * DAY) });
      expect(await prune(db, { now: at(9), keep: { ...week, count: 2 } })).toEqual(ids.slice(0, 2));
      expect((await stats(db, { now: at(9) })).counts).toMatchObject({ done: 2, dead: 1 });
    });

    it('keeps everything by a rule that is left out, and what it does not know the time of', async () => {
      const old = await done(at(-8 * DAY));
      const unknown = await insert({});
      await db.query(`update jobs set status = 'done' where id = $1`, unknown);
      const young = await done(at(0));
      const rules: [Keep, string[]][] = [
        [{}, []],
        [{ ageMs: 9 * DAY * 1_000 }, []],
        [{ count: 2 }, []],
        [{ ageMs: 7 * DAY * 1_000, count: 2 }, [old]],
        [{ ageMs: 9 * DAY * 1_000, count: 0 }, [young]],
      ];
      for (const [keep, gone] of rules) {
        expect(await countPrunable(db, { now: at(0), keep })).toBe(gone.length);
        expect(await prune(db, { now: at(0), keep })).toEqual(gone);
      }
      expect((await job(unknown[0]!)).status).toBe('done');
    });

    it('takes attempts along, and more than one chunk', async () => {
      await db.query(
        `insert into jobs (kind, payload, status, attempts, finished_at)
         select 'work', '{}', 'done', 1, $1 from generate_series(1, 2500)`,
        [at(-8 * DAY)],
      );
      await db.exec(`insert into job_attempts (job_id, attempt, claim_id, started_at)
        select id, 1, gen_random_uuid(), now() from jobs`);
      expect(await prune(db, { now: at(0), keep: week })).toHaveLength(2_500);
      expect((await db.query('select 1 from job_attempts')).rowCount).toBe(0);
    });
  });

  it('claims by its index, however many rows are done (pg-boss 228, river 785)', async () => {
    await db.query(
      `insert into jobs (kind, payload, status, attempts, finished_at)
       select 'work', '{}', 'done', 1, $1 from generate_series(1, 20000)`,
      [at(0)],
    );
    await db.query(
      `insert into jobs (kind, payload, run_after)
       select 'work', '{}', $1 from generate_series(1, 2000)`,
      [at(0)],
    );
    await db.exec('analyze jobs');
    const { rows } = await db.query<{ 'QUERY PLAN': string }>(`explain ${CLAIM_SQL}`, [
      at(0),
      20,
      'process',
      'none',
    ]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan using jobs_pending_idx/);
    expect(plan).not.toMatch(/Seq Scan on jobs|Sort Key: jobs.run_after/);
  });

  describe('stats', () => {
    it('counts, and gives the age of the oldest waiting job', async () => {
      await insert({ runAfter: at(-90) }, { runAfter: at(-30) }, { runAfter: at(60) }, {});
      await settle(db, verdict(await claimOne()), { now: at(1) });
      expect(await stats(db, { now: at(10) })).toEqual({
        counts: { pending: 3, running: 0, done: 1, dead: 0 },
        due: 2,
        estimated: [],
        oldest_waiting_ms: 40_000,
        next_run_after: at(60),
        last_minute: { attempts: 1, done: 1, failed: 0 },
      });
    });

    it('has no age when nothing is due', async () => {
      await insert({ runAfter: at(60) });
      expect(await stats(db, { now: at(0) })).toMatchObject({ oldest_waiting_ms: null, due: 0 });
    });
  });

  describe('list', () => {
    it('pages and filters', async () => {
      await insert({ kind: 'a' }, { kind: 'b' }, { kind: 'a' });
      const ids = async (filter: object) =>
        (await listJobs(db, { limit: 10, ...filter })).jobs.map(({ id }) => id);
      expect(await ids({})).toEqual(['3', '2', '1']);
      expect(await ids({ before: '3', limit: 1 })).toEqual(['2']);
      expect(await ids({ kind: 'a' })).toEqual(['3', '1']);
      expect(await ids({ kind: 'a', before: '3' })).toEqual(['1']);
      expect(await ids({ status: 'dead' })).toEqual([]);
      await claimOne();
      expect(await ids({ kind: 'a', status: 'running' })).toEqual(['1']);
      expect(await ids({ kind: 'a', status: 'pending' })).toEqual(['3']);
      expect(await ids({ status: 'pending' })).toEqual(['3', '2']);
      expect(await ids({ status: 'pending', before: '3' })).toEqual(['2']);
      // Across states, and no more than asked for.
      expect(await ids({ kind: 'a', limit: 1 })).toEqual(['3']);
    });

    it('tells kinds apart that begin alike, however long they are', async () => {
      // More than an index entry may hold.
      const long = Array.from({ length: 6_000 }, (_, n) => String.fromCodePoint(0x4e00 + n)).join(
        '',
      );
      const [first, second, third] = await insert(
        { kind: long },
        { kind: `${long}!` },
        { kind: long.slice(0, 100) },
      );
      const ids = async (kind: string) =>
        (await listJobs(db, { limit: 10, kind })).jobs.map(({ id }) => id);
      expect(await ids(long)).toEqual([first]);
      expect(await ids(`${long}!`)).toEqual([second]);
      expect(await ids(long.slice(0, 100))).toEqual([third]);
      expect(await ids(long.slice(0, 99))).toEqual([]);
    });
  });
});
