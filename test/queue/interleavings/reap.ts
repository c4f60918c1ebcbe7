/** The reaper, and whoever comes into its way. */
import { expect } from 'vitest';
import { at, type Interleaving, LEASE, type Scene } from './scene.js';

/**
 * Two jobs whose leases are over. The reaper has looked at the first one and is about to change it;
 * the second one has it seen, when its statement began, and will look at when it gets there.
 */
async function betweenLookAndUpdate(scene: Scene) {
  await scene.enqueue({}, {});
  const first = await scene.claimed(0);
  const second = await scene.claimed(1);
  const reaper = await scene.actor({ pauseAt: 'change', rowByRow: true });
  const reaping = await reaper.hold((db) => scene.reap(db, LEASE + 9));
  return {
    first,
    second,
    async reaped() {
      await reaper.resume();
      return (await reaping.result).map(({ job }) => job.id);
    },
  };
}

/** One job is reaped, and nobody can see it yet. */
async function reapedUncommitted(scene: Scene) {
  await scene.enqueue({});
  const claim = await scene.claimed(0);
  const reaper = await scene.actor({ pauseAt: 'commit' });
  const reaping = await reaper.hold((db) => scene.reap(db, LEASE));
  return { claim, reaper, reaping };
}

export const REAP: Interleaving[] = [
  {
    name: 'a job finishes between the reaper’s look and its update (river 1302)',
    async play(scene) {
      const { second, reaped } = await betweenLookAndUpdate(scene);
      expect(await scene.settle(scene.db, second, LEASE + 5)).toMatchObject({ owned: true });
      expect(await reaped()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({ status: 'done', finished_at: at(LEASE + 5) });
    },
  },
  {
    name: 'a job fails between the reaper’s look and its update',
    async play(scene) {
      const { second, reaped } = await betweenLookAndUpdate(scene);
      await scene.settle(scene.db, second, LEASE + 5, 'it broke');
      expect(await reaped()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({
        status: 'pending',
        run_after: at(LEASE + 65),
        last_error: 'it broke',
        attempts_log: [{ outcome: 'exited' }],
      });
    },
  },
  {
    name: 'a heartbeat comes between the reaper’s look and its update',
    async play(scene) {
      const { second, reaped } = await betweenLookAndUpdate(scene);
      const kept = await scene.heartbeat(scene.db, second, LEASE + 5);
      expect([...kept]).toEqual([second.claim_id]);
      expect(await reaped()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({
        status: 'running',
        claim_id: second.claim_id,
        locked_at: at(LEASE + 5),
      });
    },
  },
  {
    name: 'a job fails and is claimed again between the reaper’s look and its update',
    async play(scene) {
      const { second, reaped } = await betweenLookAndUpdate(scene);
      await scene.settle(scene.db, second, LEASE + 5, 'it broke');
      const [again] = await scene.claim(scene.db, { seconds: LEASE + 65 });
      expect(await reaped()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({ status: 'running', claim_id: again!.claim_id });
    },
  },
  {
    name: 'a pending job gets more attempts between the reaper’s look and its update',
    async play(scene) {
      await scene.enqueue({ maxAttempts: 0 }, { maxAttempts: 0 });
      const reaper = await scene.actor({ pauseAt: 'change', rowByRow: true });
      const reaping = await reaper.hold((db) => scene.reap(db, 1));
      await scene.verbs.edit(scene.db, { id: '2', changes: { maxAttempts: 1 }, now: at(1) });
      await reaper.resume();
      expect(await reaping.result).toMatchObject([{ why: 'exhausted', job: { id: '1' } }]);
      expect(await scene.job('2')).toMatchObject({ status: 'pending', max_attempts: 1 });
    },
  },
  {
    name: 'a heartbeat comes while the reaper has taken the job',
    async play(scene) {
      const { claim, reaper, reaping } = await reapedUncommitted(scene);
      const drainer = await scene.actor();
      const beating = await drainer.waitFor(reaper, (db) => scene.heartbeat(db, claim, LEASE));
      await reaper.resume();
      await reaping.result;
      expect((await beating.result).size).toBe(0);
      expect(await scene.job('1')).toMatchObject({ status: 'pending', locked_at: null });
    },
  },
  {
    name: 'the reaper comes while a heartbeat has the job',
    async play(scene) {
      await scene.enqueue({});
      const claim = await scene.claimed(0);
      const drainer = await scene.actor({ pauseAt: 'commit' });
      const beating = await drainer.hold((db) => scene.heartbeat(db, claim, LEASE));
      expect(await scene.reap(scene.db, LEASE)).toEqual([]);
      await drainer.resume();
      expect((await beating.result).size).toBe(1);
      expect(await scene.reap(scene.db, LEASE)).toEqual([]);
      expect(await scene.job('1')).toMatchObject({ status: 'running', locked_at: at(LEASE) });
    },
  },
  {
    name: 'two reapers',
    async play(scene) {
      const { reaper, reaping } = await reapedUncommitted(scene);
      expect(await scene.reap(scene.db, LEASE + 1)).toEqual([]);
      await reaper.resume();
      expect(await reaping.result).toHaveLength(1);
      expect(await scene.reap(scene.db, LEASE + 1)).toEqual([]);
      expect(await scene.job('1')).toMatchObject({ attempts: 1, run_after: at(LEASE) });
    },
  },
  {
    name: 'another reaper comes between the look and the update of the first',
    async play(scene) {
      const { reaped } = await betweenLookAndUpdate(scene);
      expect(await scene.reap(scene.db, LEASE + 5)).toMatchObject([{ job: { id: '2' } }]);
      expect(await reaped()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({ attempts: 1, run_after: at(LEASE + 5) });
    },
  },
  {
    name: 'a reaper whose machine dies has reaped nothing (procrastinate 1408)',
    async play(scene) {
      const { reaper, reaping } = await reapedUncommitted(scene);
      await reaper.die();
      await expect(reaping.result).rejects.toMatchObject({ code: 'database-unreachable' });
      expect(await scene.job('1')).toMatchObject({
        status: 'running',
        attempts_log: [{ outcome: null }],
      });
      expect(await scene.reap(scene.db, LEASE)).toHaveLength(1);
    },
  },
  {
    name: 'a release comes while the reaper has taken the job',
    async play(scene) {
      const { claim, reaper, reaping } = await reapedUncommitted(scene);
      const drainer = await scene.actor();
      const releasing = await drainer.waitFor(reaper, (db) => scene.release(db, claim, LEASE));
      await reaper.resume();
      await reaping.result;
      expect(await releasing.result).toBe(false);
      expect(await scene.job('1')).toMatchObject({
        status: 'pending',
        attempts: 1,
        attempts_log: [{ outcome: 'superseded', error: expect.stringMatching(/^lost/) }],
      });
    },
  },
  {
    name: 'the reaper comes while a release has the job',
    async play(scene) {
      await scene.enqueue({});
      const claim = await scene.claimed(0);
      const drainer = await scene.actor({ pauseAt: 'commit' });
      const releasing = await drainer.hold((db) => scene.release(db, claim, LEASE));
      expect(await scene.reap(scene.db, LEASE)).toEqual([]);
      await drainer.resume();
      expect(await releasing.result).toBe(true);
      expect(await scene.job('1')).toMatchObject({ status: 'pending', attempts: 0 });
    },
  },
];
