import { isDeepStrictEqual } from 'node:util';
import type { Emulator } from '../emulator.js';
import { listQuery, withPage } from './list.js';
import type { ListTab, State } from './state.js';
import type { Store } from './store.js';

/** Asks for the rows of a list, as many as it has or wants. */
export async function loadList(
  store: Store<State>,
  emulator: Emulator,
  tab: ListTab,
): Promise<void> {
  const asked = listQuery(tab, store.state.lists[tab]);
  const rows = await emulator.list(asked);
  store.update((state) => {
    const list = state.lists[tab];
    // The filter has changed meanwhile: these are not its rows.
    if (listQuery(tab, list) !== asked || isDeepStrictEqual(list.rows, rows)) return state;
    return { ...state, lists: { ...state.lists, [tab]: withPage(list, rows) } };
  });
}
