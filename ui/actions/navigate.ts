import { documentOf, matches, topOf } from '../job/document.js';
import { jobFacts } from '../job/facts.js';
import { jobLayout, layoutOf, listLayout, liveLayout } from '../layout.js';
import { liveKeys } from '../store/live-rows.js';
import { move } from '../store/selection.js';
import {
  JOB_TABS,
  type JobTab,
  type JobView,
  PAGE,
  type State,
  TABS,
  type Tab,
} from '../store/state.js';
import type { Ui } from '../ui.js';
import { selectedJob } from './selected.js';

/** How far a key moves: rows, or screens, or to an end. */
export type Step = { rows: number } | { screens: number } | { end: -1 | 1 };

function rowsOf(step: Step, height: number): number {
  if ('rows' in step) return step.rows;
  if ('screens' in step) return step.screens * Math.max(1, height - 1);
  return step.end * Number.MAX_SAFE_INTEGER;
}

/** Moves the selection, or scrolls the text of an open job. */
export function moveBy(ui: Ui, step: Step): void {
  ui.store.update((state) => {
    const layout = layoutOf(state);
    const open = state.views.at(-1);
    if (open !== undefined) return withView(state, scrolled(open, state, step));
    if (state.tab === 'live') {
      const { slots, feed } = liveLayout(layout, state.slots.length);
      const height = state.live.index < state.slots.length ? slots : feed;
      return { ...state, live: move(state.live, liveKeys(state), rowsOf(step, height), height) };
    }
    const list = state.lists[state.tab];
    const keys = (list.rows ?? []).map(({ id }) => id);
    const { rows } = listLayout(layout);
    const selection = move(list.selection, keys, rowsOf(step, rows), rows);
    const limit =
      list.more && selection.index >= keys.length - rows ? list.limit + PAGE : list.limit;
    if (limit > list.limit) ui.watch.refresh();
    return { ...state, lists: { ...state.lists, [state.tab]: { ...list, selection, limit } } };
  }, 'now');
}

function scrolled(view: JobView, state: State, step: Step): JobView {
  if (view.tab === 'lineage') {
    const last = Math.max(0, view.relatives.length - 1);
    const chosen = Math.max(0, Math.min(last, view.chosen + rowsOf(step, last)));
    return { ...view, chosen };
  }
  const length = documentOf(view, state.columns).length;
  const height = jobLayout(layoutOf(state), jobFacts(view, state).length).text;
  const top = topOf(view, length, height) + rowsOf(step, height);
  return { ...view, scroll: top >= length - height ? 'end' : Math.max(0, top) };
}

function withView(state: State, view: JobView): State {
  return { ...state, views: [...state.views.slice(0, -1), view] };
}

/** Opens a panel by its place; in a job, a part of its view. */
export function openTab(ui: Ui, place: number): void {
  const open = ui.store.state.views.at(-1);
  if (open === undefined) showTab(ui, TABS[place]);
  else showJobTab(ui, open, JOB_TABS[place]);
}

/** The panel, or the part of a job's view, to the left or right. */
export function nextTab(ui: Ui, by: 1 | -1): void {
  const { tab, views } = ui.store.state;
  const open = views.at(-1);
  const next = <Item>(items: readonly Item[], item: Item) =>
    items[(items.indexOf(item) + by + items.length) % items.length];
  if (open === undefined) showTab(ui, next(TABS, tab));
  else showJobTab(ui, open, next(JOB_TABS, open.tab));
}

function showTab(ui: Ui, tab: Tab | undefined): void {
  if (tab === undefined) return;
  ui.store.update((state) => ({ ...state, tab }), 'now');
  if (tab !== 'live') ui.watch.refreshNow();
}

function showJobTab(ui: Ui, view: JobView, tab: JobTab | undefined): void {
  if (tab === undefined) return;
  const scroll = tab === 'output' ? 'end' : 0;
  const chosen = Math.max(
    0,
    view.relatives.findIndex(({ id }) => id === view.id),
  );
  ui.store.update((state) => withView(state, { ...view, tab, scroll, chosen, search: '' }), 'now');
}

/** Opens the selected job, or the given one. */
export function openJob(ui: Ui, id = selectedJob(ui.store.state)): void {
  if (id === undefined || ui.store.state.views.at(-1)?.id === id) return;
  const view: JobView = {
    id,
    job: undefined,
    explanation: undefined,
    relatives: [],
    tab: 'output',
    scroll: 'end',
    search: '',
    chosen: 0,
  };
  ui.store.update((state) => ({ ...state, views: [...state.views, view] }), 'now');
  ui.watch.refreshNow();
}

/** Back by one: a message, a search, a job, a filter. */
export function back(ui: Ui): void {
  ui.store.update((state) => {
    const open = state.views.at(-1);
    if (open !== undefined && open.search !== '') return withView(state, { ...open, search: '' });
    if (open !== undefined) return { ...state, views: state.views.slice(0, -1) };
    if (state.toast !== undefined) return { ...state, toast: undefined };
    if (state.tab === 'live') return state;
    const list = state.lists[state.tab];
    const cleared = { ...list, filter: { text: '' }, rows: undefined };
    return list.filter.text === '' && !list.filter.kind && !list.filter.status
      ? state
      : { ...state, lists: { ...state.lists, [state.tab]: cleared } };
  }, 'now');
  ui.watch.refreshNow();
}

/** The next line, or the one before, that holds what was searched for. */
export function nextMatch(ui: Ui, by: 1 | -1): void {
  ui.store.update((state) => {
    const open = state.views.at(-1);
    if (open === undefined) return state;
    const document = documentOf(open, state.columns);
    const found = matches(document, open.search);
    if (found.length === 0) return state;
    const height = jobLayout(layoutOf(state), jobFacts(open, state).length).text;
    const top = topOf(open, document.length, height);
    const next =
      by > 0
        ? (found.find((line) => line > top) ?? found[0])
        : (found.findLast((line) => line < top) ?? found.at(-1));
    return withView(state, { ...open, scroll: next! });
  }, 'now');
}
