import { STATUSES } from '../../src/job/job.js';
import { filterText, parseFilter } from '../store/list.js';
import { type Filter, type ListTab, PAGE, TOP } from '../store/state.js';
import type { Ui } from '../ui.js';
import { askText } from './ask.js';
import { nextMatch } from './navigate.js';

/** `/`: looks for a text, in a list or in the open job. */
export function find(ui: Ui): void {
  const { views, tab } = ui.store.state;
  if (views.length > 0) search(ui);
  else filter(ui, tab === 'live' ? 'all' : tab);
}

function filter(ui: Ui, tab: ListTab): void {
  const { filter: before } = ui.store.state.lists[tab];
  askText(ui, {
    label: '/',
    value: filterText(before),
    placeholder: 'an id, a kind, or what a payload or error says; kind:push status:dead',
    submit: (value) => {
      setFilter(ui, tab, parseFilter(value));
      return undefined;
    },
  });
}

function search(ui: Ui): void {
  askText(ui, {
    label: '/',
    placeholder: 'what to look for',
    submit: (value) => {
      ui.store.update((state) => {
        const views = [...state.views];
        views[views.length - 1] = { ...views.at(-1)!, search: value };
        return { ...state, views };
      }, 'now');
      nextMatch(ui, 1);
      return undefined;
    },
  });
}

/** `t`: only jobs of one status, then of the next. */
export function nextStatus(ui: Ui): void {
  const { filter: before } = ui.store.state.lists.all;
  const order = [undefined, ...STATUSES];
  const status = order[(order.indexOf(before.status) + 1) % order.length];
  const { status: _status, ...rest } = before;
  setFilter(ui, 'all', status === undefined ? rest : { ...rest, status });
}

function setFilter(ui: Ui, tab: ListTab, changed: Filter): void {
  ui.store.update((state) => {
    const list = {
      ...state.lists[tab],
      filter: changed,
      rows: undefined,
      limit: PAGE,
      selection: TOP,
    };
    return { ...state, tab, lists: { ...state.lists, [tab]: list } };
  }, 'now');
  ui.watch.refreshNow();
}
