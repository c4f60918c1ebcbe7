import { isDeepStrictEqual } from 'node:util';
import { JobqError } from '../../src/errors.js';
import type { Emulator } from '../emulator.js';
import type { State } from './state.js';
import type { Store } from './store.js';

/** Asks for everything that the view of a job shows. A job that is gone closes its view. */
export async function loadJob(store: Store<State>, emulator: Emulator, id: string): Promise<void> {
  try {
    const [job, explanation, relatives] = await Promise.all([
      emulator.job(id),
      emulator.explain(id),
      emulator.lineage(id),
    ]);
    store.update((state) => {
      const open = state.views.find((view) => view.id === id);
      const { job: before, explanation: why, relatives: family } = open ?? {};
      if (isDeepStrictEqual([before, why, family], [job, explanation, relatives])) return state;
      // The text of a job that has not changed stays laid out.
      const same = isDeepStrictEqual(before, job) ? before : job;
      const views = state.views.map((view) =>
        view.id === id ? { ...view, job: same, explanation, relatives } : view,
      );
      return { ...state, views };
    });
  } catch (error) {
    if (!(error instanceof JobqError) || error.code !== 'not-found') throw error;
    store.update((state) => ({
      ...state,
      views: state.views.filter((view) => view.id !== id),
      toast: { tone: 'bad', text: error.message },
    }));
  }
}
