/** A finish, and what happens to its job before it is settled. */
import { expect } from 'vitest';
import { at, type Interleaving, LEASE, type Scene } from './scene.js';

/** The reaper has taken the job, nobody can see it yet, and its drainer settles. */
async function settledWhileReaped(scene: Scene, error: string | null) {
  await scene.enqueue({});
  const claim = await scene.claimed(0);
  const reaper = await scene.actor({ pauseAt: 'commit' });
  const reaping = await reaper.hold((db) => scene.reap(db, LEASE));
  const drainer = await scene.actor();
  const settling = await drainer.waitFor(reaper, (db) => scene.settle(db, claim, LEASE + 1, error));
  await reaper.resume();
  await reaping.result;
  return settling.result;
}

export const SETTLE: Interleaving[] = [
  {
    name: 'a job is reaped between its finish and its settle: it succeeded (solid_queue 589, 761)',
    async play(scene) {
      expect(await settledWhileReaped(scene, null)).toEqual({ owned: false });
      expect(await scene.job('1')).toMatchObject({
        status: 'pending',
        run_after: at(LEASE),
        last_error: expect.stringMatching(/^lost/),
        attempts_log: [{ outcome: 'superseded', exit_code: 0, finished_at: at(LEASE + 1) }],
      });
    },
  },
  {
    name: 'a job is reaped between its finish and its settle: it failed (dbos-transact-ts 1323)',
    async play(scene) {
      expect(await settledWhileReaped(scene, 'A failed')).toEqual({ owned: false });
      expect(await scene.job('1')).toMatchObject({
        status: 'pending',
        run_after: at(LEASE),
        last_error: expect.stringMatching(/^lost/),
        attempts_log: [{ outcome: 'superseded', error: expect.stringMatching(/^lost/) }],
      });
    },
  },
  {
    name: 'the next claim comes while the late finisher waits',
    async play(scene) {
      await scene.enqueue({});
      const a = await scene.claimed(0);
      await scene.reap(scene.db, LEASE);
      const next = await scene.actor({ pauseAt: 'commit' });
      const claiming = await next.hold((db) => scene.claim(db, { seconds: LEASE }));
      // A's claim is gone already: its settle waits for nobody.
      expect(await scene.settle(scene.db, a, LEASE + 1, 'A failed')).toEqual({ owned: false });
      await next.resume();
      const [b] = await claiming.result;
      expect(await scene.job('1')).toMatchObject({
        status: 'running',
        claim_id: b!.claim_id,
        attempts_log: [
          { claim_id: a.claim_id, outcome: 'superseded' },
          { claim_id: b!.claim_id, outcome: null },
        ],
      });
    },
  },
  {
    name: 'the reaper comes while a settle has the job',
    async play(scene) {
      await scene.enqueue({});
      const claim = await scene.claimed(0);
      const drainer = await scene.actor({ pauseAt: 'commit' });
      const settling = await drainer.hold((db) => scene.settle(db, claim, LEASE));
      expect(await scene.reap(scene.db, LEASE)).toEqual([]);
      await drainer.resume();
      expect(await settling.result).toMatchObject({ owned: true, status: 'done' });
      expect(await scene.reap(scene.db, LEASE)).toEqual([]);
    },
  },
  {
    name: 'a settle is repeated while the first one, whose connection broke, still runs',
    async play(scene) {
      await scene.enqueue({});
      const claim = await scene.claimed(0);
      const first = await scene.actor({ pauseAt: 'commit' });
      const settling = await first.hold((db) => scene.settle(db, claim, 5));
      const again = await scene.actor();
      const repeating = await again.waitFor(first, (db) => scene.settle(db, claim, 6));
      await first.resume();
      expect(await repeating.result).toEqual(await settling.result);
      expect(await scene.job('1')).toMatchObject({
        status: 'done',
        finished_at: at(5),
        attempts_log: [{ outcome: 'exited', finished_at: at(5) }],
      });
    },
  },
  {
    name: 'a settle that dies before its commit is repeated',
    async play(scene) {
      await scene.enqueue({});
      const claim = await scene.claimed(0);
      const drainer = await scene.actor({ pauseAt: 'commit' });
      const settling = await drainer.hold((db) => scene.settle(db, claim, 5));
      await drainer.die();
      await expect(settling.result).rejects.toMatchObject({ code: 'database-unreachable' });
      expect(await scene.settle(scene.db, claim, 6)).toMatchObject({ owned: true, status: 'done' });
    },
  },
];
