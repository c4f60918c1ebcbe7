/** What a person does, and whoever does something to the same job. */
import { expect } from 'vitest';
import { at, type Interleaving, type Scene } from './scene.js';

const DAY = 86_400;

/** One dead job. */
async function dead(scene: Scene): Promise<void> {
  await scene.enqueue({ maxAttempts: 1 });
  await scene.settle(scene.db, await scene.claimed(), 1, 'it broke');
}

const KEEP_NOTHING = { ageMs: 0, count: 0 };

export const BY_HAND: Interleaving[] = [
  {
    name: 'a claim comes while a retry has the job',
    async play(scene) {
      await dead(scene);
      const person = await scene.actor({ pauseAt: 'commit' });
      const retrying = await person.hold((db) => scene.verbs.retry(db, { id: '1', now: at(2) }));
      expect(await scene.claim(scene.db, { seconds: 2 })).toEqual([]);
      await person.resume();
      expect(await retrying.result).toMatchObject({ status: 'pending', attempts: 0 });
      expect(await scene.claim(scene.db, { seconds: 2 })).toMatchObject([{ attempts: 1 }]);
    },
  },
  {
    name: 'a second retry comes while the first one has the job',
    async play(scene) {
      await dead(scene);
      const one = await scene.actor({ pauseAt: 'commit' });
      const first = await one.hold((db) => scene.verbs.retry(db, { id: '1', now: at(2) }));
      const two = await scene.actor();
      const second = await two.waitFor(one, (db) => scene.verbs.retry(db, { id: '1', now: at(3) }));
      await one.resume();
      await first.result;
      await expect(second.result).rejects.toMatchObject({
        code: 'conflict',
        message: 'job 1 is pending, and only a dead job can be retried',
      });
      expect((await scene.job('1')).run_after).toEqual(at(2));
    },
  },
  {
    name: 'a retried job is claimed while a retry of all waits for it',
    async play(scene) {
      await dead(scene);
      const one = await scene.actor({ pauseAt: 'commit' });
      const first = await one.hold((db) => scene.verbs.retry(db, { id: '1', now: at(2) }));
      const two = await scene.actor();
      const all = await two.waitFor(one, (db) => scene.verbs.retryAll(db, { now: at(3) }));
      await one.resume();
      await first.result;
      expect(await all.result).toBe(0);
    },
  },
  {
    name: 'a cancel comes while a settle that succeeds has the job',
    async play(scene) {
      await scene.enqueue({});
      const claim = await scene.claimed();
      const drainer = await scene.actor({ pauseAt: 'commit' });
      const settling = await drainer.hold((db) => scene.settle(db, claim, 1));
      const person = await scene.actor();
      const cancelling = await person.waitFor(drainer, (db) =>
        scene.verbs.cancel(db, { id: '1', now: at(2) }),
      );
      await drainer.resume();
      expect(await settling.result).toMatchObject({ owned: true });
      await expect(cancelling.result).rejects.toMatchObject({
        code: 'conflict',
        message: 'job 1 is done already',
      });
      expect(await scene.job('1')).toMatchObject({ status: 'done', finished_at: at(1) });
    },
  },
  {
    name: 'a cancel comes while a settle that failed has the job',
    async play(scene) {
      await scene.enqueue({});
      const claim = await scene.claimed();
      const drainer = await scene.actor({ pauseAt: 'commit' });
      const settling = await drainer.hold((db) => scene.settle(db, claim, 1, 'it broke'));
      const person = await scene.actor();
      const cancelling = await person.waitFor(drainer, (db) =>
        scene.verbs.cancel(db, { id: '1', now: at(2) }),
      );
      await drainer.resume();
      expect(await settling.result).toMatchObject({ owned: true, status: 'pending' });
      // It is pending by now: no attempt is left to kill.
      expect(await cancelling.result).toMatchObject({ claimId: undefined });
      expect(await scene.job('1')).toMatchObject({
        status: 'dead',
        attempts_log: [{ outcome: 'exited', error: 'it broke' }],
      });
    },
  },
  {
    name: 'a settle comes while a cancel has the job',
    async play(scene) {
      await scene.enqueue({});
      const claim = await scene.claimed();
      const person = await scene.actor({ pauseAt: 'commit' });
      const cancelling = await person.hold((db) => scene.verbs.cancel(db, { id: '1', now: at(1) }));
      const drainer = await scene.actor();
      const settling = await drainer.waitFor(person, (db) => scene.settle(db, claim, 2));
      await person.resume();
      await cancelling.result;
      expect(await settling.result).toEqual({ owned: false });
      expect(await scene.job('1')).toMatchObject({
        status: 'dead',
        last_error: 'cancelled by hand',
        attempts_log: [{ outcome: 'superseded', exit_code: 0, error: 'cancelled by hand' }],
      });
    },
  },
  {
    name: 'a heartbeat comes while a cancel has the job',
    async play(scene) {
      await scene.enqueue({});
      const claim = await scene.claimed();
      const person = await scene.actor({ pauseAt: 'commit' });
      const cancelling = await person.hold((db) => scene.verbs.cancel(db, { id: '1', now: at(1) }));
      const drainer = await scene.actor();
      const beating = await drainer.waitFor(person, (db) => scene.heartbeat(db, claim, 2));
      await person.resume();
      await cancelling.result;
      expect((await beating.result).size).toBe(0);
    },
  },
  {
    name: 'an edit comes while a cancel has the job',
    async play(scene) {
      await scene.enqueue({});
      const one = await scene.actor({ pauseAt: 'commit' });
      const cancelling = await one.hold((db) => scene.verbs.cancel(db, { id: '1', now: at(1) }));
      const two = await scene.actor();
      const editing = await two.waitFor(one, (db) =>
        scene.verbs.edit(db, { id: '1', changes: { payload: '[2]' }, now: at(2) }),
      );
      await one.resume();
      await cancelling.result;
      // The job is over by now, and keeps its history: a copy is edited instead.
      expect(await editing.result).toMatchObject({ id: '2', parent_id: '1', payload: '[2]' });
      expect(await scene.job('1')).toMatchObject({ status: 'dead', payload: '{}' });
    },
  },
  {
    name: 'a retry comes while prune deletes what is done',
    async play(scene) {
      await dead(scene);
      await scene.enqueue({});
      await scene.settle(scene.db, await scene.claimed(2), 3);
      const pruner = await scene.actor({ pauseAt: 'commit' });
      const pruning = await pruner.hold((db) =>
        scene.verbs.prune(db, { now: at(DAY), keep: KEEP_NOTHING }),
      );
      expect(await scene.verbs.retryAll(scene.db, { now: at(DAY) })).toBe(1);
      await expect(scene.verbs.retry(scene.db, { id: '2', now: at(DAY) })).rejects.toMatchObject({
        code: 'conflict',
      });
      await pruner.resume();
      expect(await pruning.result).toEqual(['2']);
      expect(await scene.job('1')).toMatchObject({ status: 'pending', attempts: 0 });
    },
  },
  {
    name: 'an edit comes while prune deletes the job',
    async play(scene) {
      await scene.enqueue({});
      await scene.settle(scene.db, await scene.claimed(), 1);
      const pruner = await scene.actor({ pauseAt: 'commit' });
      const pruning = await pruner.hold((db) =>
        scene.verbs.prune(db, { now: at(DAY), keep: KEEP_NOTHING }),
      );
      const person = await scene.actor();
      const editing = await person.waitFor(pruner, (db) =>
        scene.verbs.edit(db, { id: '1', changes: {}, now: at(DAY) }),
      );
      await pruner.resume();
      expect(await pruning.result).toEqual(['1']);
      await expect(editing.result).rejects.toMatchObject({ code: 'not-found' });
    },
  },
  {
    name: 'a late finisher comes while prune deletes the job',
    async play(scene) {
      await scene.enqueue({});
      const a = await scene.claimed(0);
      await scene.reap(scene.db, DAY);
      await scene.settle(scene.db, await scene.claimed(DAY), DAY + 1);
      const pruner = await scene.actor({ pauseAt: 'commit' });
      const pruning = await pruner.hold((db) =>
        scene.verbs.prune(db, { now: at(2 * DAY), keep: KEEP_NOTHING }),
      );
      const drainer = await scene.actor();
      const settling = await drainer.waitFor(pruner, (db) => scene.settle(db, a, 2 * DAY));
      await pruner.resume();
      expect(await pruning.result).toEqual(['1']);
      expect(await settling.result).toEqual({ owned: false });
    },
  },
  {
    name: 'two prunes want the same rows',
    async play(scene) {
      await scene.enqueue({}, {});
      for (const claim of await scene.claim(scene.db, { limit: 2 })) {
        await scene.settle(scene.db, claim, 1);
      }
      const prune = { now: at(DAY), keep: KEEP_NOTHING };
      const pruner = await scene.actor({ pauseAt: 'commit' });
      const pruning = await pruner.hold((db) => scene.verbs.prune(db, prune));
      expect(await scene.verbs.prune(scene.db, prune)).toEqual([]);
      await pruner.resume();
      expect((await pruning.result).sort()).toEqual(['1', '2']);
    },
  },
];
