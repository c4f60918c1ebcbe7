/** What the screen shows of a state, as text. */
import { renderToString } from 'ink';
import type { ReactNode } from 'react';
import { Header } from '#ui/components/Header.js';
import { Panel } from '#ui/components/Panel.js';
import { Surroundings } from '#ui/components/Surroundings.js';
import type { State } from '#ui/store/state.js';
import { Store } from '#ui/store/store.js';
import { NOW } from './states.js';

/** The lines of the screen, without spaces at their ends, at a time that stands still. */
export function draw(state: State, now = NOW): string[] {
  const seconds = { now, subscribe: () => () => {} };
  const store = new Store(state);
  const part = (node: ReactNode) => {
    const text = renderToString(
      <Surroundings store={store} seconds={seconds} colours={true}>
        {node}
      </Surroundings>,
      { columns: state.columns },
    );
    return text === '' ? [] : text.split('\n');
  };
  return [...part(<Header />), ...part(<Panel />)];
}
