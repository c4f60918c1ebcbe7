import { createContext, useContext, useSyncExternalStore } from 'react';
import type { State } from '../store/state.js';
import type { Store } from '../store/store.js';

export const StoreContext = createContext<Store<State> | undefined>(undefined);

/** The state of the frame that is being drawn. */
export function useScreen(): State {
  const store = useContext(StoreContext)!;
  return useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
}
