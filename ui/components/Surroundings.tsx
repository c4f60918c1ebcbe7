import type { ReactNode } from 'react';
import { ColoursContext } from '../hooks/use-colours.js';
import { StoreContext } from '../hooks/use-screen.js';
import { SecondsContext } from '../hooks/use-timed.js';
import type { Seconds } from '../store/seconds.js';
import type { State } from '../store/state.js';
import type { Store } from '../store/store.js';

interface Props {
  store: Store<State>;
  seconds: Pick<Seconds, 'now' | 'subscribe'>;
  colours: boolean;
  children: ReactNode;
}

/** What every component may ask for. */
export function Surroundings({ store, seconds, colours, children }: Props) {
  return (
    <ColoursContext value={colours}>
      <SecondsContext value={seconds}>
        <StoreContext value={store}>{children}</StoreContext>
      </SecondsContext>
    </ColoursContext>
  );
}
