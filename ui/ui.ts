import type { Emulator } from './emulator.js';
import type { State } from './store/state.js';
import type { Store } from './store/store.js';
import type { Watch } from './store/watch.js';

/** What the screen can do outside of itself. */
export interface Host {
  /** Asks the program to end; asked again, at once. */
  quit: () => void;
  /** Opens the user's editor. @returns the text as it was left; @throws JobqError without an editor. */
  edit: (text: string) => Promise<string>;
  /** Puts a text into the terminal's clipboard. */
  copy: (text: string) => void;
  /** Draws everything again. */
  redraw: () => void;
}

/** What an action of a key works with. */
export interface Ui {
  store: Store<State>;
  emulator: Emulator;
  watch: Pick<Watch, 'refresh' | 'refreshNow'>;
  host: Host;
}
