import type { JobLine } from '../../src/api/contract.js';
import { liveJob } from '../store/live-rows.js';
import type { State } from '../store/state.js';

/** The job that keys act on: the open one, or that of the selected row. */
export function selectedJob(state: State): string | undefined {
  const open = state.views.at(-1);
  if (open !== undefined) {
    return open.tab === 'lineage' ? (open.relatives[open.chosen]?.id ?? open.id) : open.id;
  }
  if (state.tab === 'live') return liveJob(state, state.live.index);
  const { rows, selection } = state.lists[state.tab];
  return rows?.[selection.index]?.id;
}

/** What is known of that job without asking. */
export function selectedLine(state: State): Pick<JobLine, 'id' | 'kind' | 'status'> | undefined {
  const id = selectedJob(state);
  if (id === undefined) return undefined;
  const open = state.views.at(-1);
  const known = [
    open?.job,
    ...(open?.relatives ?? []),
    ...state.slots.map((slot) => slot?.job),
    ...Object.values(state.lists).flatMap(({ rows }) => rows ?? []),
  ];
  return known.find((job) => job?.id === id);
}
