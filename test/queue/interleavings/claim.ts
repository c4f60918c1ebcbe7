/** A claim, and whoever wants the same rows. */
import { expect } from 'vitest';
import { at, type Interleaving, type Scene } from './scene.js';

const ids = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);

/**
 * The claimer has taken the first of two due jobs and is about to change it; the second one was due
 * when its statement began, and it will look at it when it gets there.
 */
async function betweenLookAndUpdate(scene: Scene) {
  await scene.enqueue({}, {});
  const drainer = await scene.actor({ pauseAt: 'change', rowByRow: true });
  const claiming = await drainer.hold((db) => scene.claim(db, { limit: 2 }));
  return {
    async claimed() {
      await drainer.resume();
      return ids(await claiming.result);
    },
  };
}

/** One job is claimed, and nobody can see it yet. */
async function claimedUncommitted(scene: Scene) {
  await scene.enqueue({});
  const drainer = await scene.actor({ pauseAt: 'commit' });
  const claiming = await drainer.hold((db) => scene.claim(db));
  return { drainer, claiming };
}

export const CLAIM: Interleaving[] = [
  {
    name: 'two claims want the same rows',
    async play(scene) {
      await scene.enqueue({}, {}, {}, {}, {});
      const one = await scene.actor({ pauseAt: 'commit' });
      const claiming = await one.hold((db) => scene.claim(db, { limit: 3 }));
      expect(ids(await scene.claim(scene.db, { limit: 3 }))).toEqual(['4', '5']);
      await one.resume();
      expect(ids(await claiming.result)).toEqual(['1', '2', '3']);
    },
  },
  {
    name: 'another claim comes between a claim’s look and its update',
    async play(scene) {
      const { claimed } = await betweenLookAndUpdate(scene);
      expect(ids(await scene.claim(scene.db, { limit: 2 }))).toEqual(['2']);
      expect(await claimed()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({ attempts: 1, attempts_log: [{ attempt: 1 }] });
    },
  },
  {
    name: 'a job is claimed and finished between a claim’s look and its update',
    async play(scene) {
      const { claimed } = await betweenLookAndUpdate(scene);
      const other = await scene.claimed(1);
      await scene.settle(scene.db, other, 2);
      expect(await claimed()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({ status: 'done', attempts: 1 });
    },
  },
  {
    name: 'a job is put off between a claim’s look and its update',
    async play(scene) {
      const { claimed } = await betweenLookAndUpdate(scene);
      await scene.verbs.edit(scene.db, { id: '2', changes: { runAfter: at(60) }, now: at(1) });
      expect(await claimed()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({ status: 'pending', run_after: at(60) });
    },
  },
  {
    name: 'a job loses its attempts between a claim’s look and its update',
    async play(scene) {
      const { claimed } = await betweenLookAndUpdate(scene);
      await scene.verbs.edit(scene.db, { id: '2', changes: { maxAttempts: 0 }, now: at(1) });
      expect(await claimed()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({ status: 'pending', attempts: 0 });
    },
  },
  {
    name: 'a job is cancelled between a claim’s look and its update',
    async play(scene) {
      const { claimed } = await betweenLookAndUpdate(scene);
      await scene.verbs.cancel(scene.db, { id: '2', now: at(1) });
      expect(await claimed()).toEqual(['1']);
      expect(await scene.job('2')).toMatchObject({ status: 'dead', attempts_log: [] });
    },
  },
  {
    name: 'a claimer whose machine dies before its commit has claimed nothing',
    async play(scene) {
      const { drainer, claiming } = await claimedUncommitted(scene);
      await drainer.die();
      await expect(claiming.result).rejects.toMatchObject({ code: 'database-unreachable' });
      expect(await scene.job('1')).toMatchObject({ status: 'pending', attempts_log: [] });
      expect(await scene.claim(scene.db)).toHaveLength(1);
    },
  },
  {
    name: 'a cancel comes while a claim has the job',
    async play(scene) {
      const { drainer, claiming } = await claimedUncommitted(scene);
      const person = await scene.actor();
      const cancelling = await person.waitFor(drainer, (db) =>
        scene.verbs.cancel(db, { id: '1', now: at(1) }),
      );
      await drainer.resume();
      const [claim] = await claiming.result;
      // The claim is named, so that its attempt is killed.
      expect(await cancelling.result).toMatchObject({ claimId: claim!.claim_id });
      expect(await scene.job('1')).toMatchObject({
        status: 'dead',
        attempts_log: [{ outcome: 'lost', error: 'cancelled by hand' }],
      });
      expect(await scene.settle(scene.db, claim!, 2)).toEqual({ owned: false });
      expect(await scene.job('1')).toMatchObject({
        status: 'dead',
        attempts_log: [{ outcome: 'superseded', error: 'cancelled by hand' }],
      });
    },
  },
  {
    name: 'a claim comes while a cancel has the job',
    async play(scene) {
      await scene.enqueue({});
      const person = await scene.actor({ pauseAt: 'commit' });
      const cancelling = await person.hold((db) => scene.verbs.cancel(db, { id: '1', now: at(1) }));
      expect(await scene.claim(scene.db)).toEqual([]);
      await person.resume();
      expect(await cancelling.result).toMatchObject({ claimId: undefined });
      expect(await scene.claim(scene.db)).toEqual([]);
    },
  },
  {
    name: 'an edit comes while a claim has the job',
    async play(scene) {
      const { drainer, claiming } = await claimedUncommitted(scene);
      const person = await scene.actor();
      const editing = await person.waitFor(drainer, (db) =>
        scene.verbs.edit(db, { id: '1', changes: { payload: '[2]' }, now: at(1) }),
      );
      await drainer.resume();
      await expect(editing.result).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('is running'),
      });
      // What the handler was given is what the table says it was given.
      expect((await claiming.result)[0]!.payload).toBe('{}');
      expect(await scene.job('1')).toMatchObject({ status: 'running', payload: '{}' });
    },
  },
  {
    name: 'a claim comes while an edit has the job',
    async play(scene) {
      await scene.enqueue({});
      const person = await scene.actor({ pauseAt: 'commit' });
      const editing = await person.hold((db) =>
        scene.verbs.edit(db, { id: '1', changes: { payload: '[2]' }, now: at(1) }),
      );
      expect(await scene.claim(scene.db)).toEqual([]);
      await person.resume();
      await editing.result;
      expect(await scene.claim(scene.db)).toMatchObject([{ id: '1', payload: '[2]' }]);
    },
  },
];
