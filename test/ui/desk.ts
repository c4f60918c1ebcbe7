/** The screen without a terminal, before a real API: keys go in, states come out. */
import { onTestFinished } from 'vitest';
import { inProcess, openInProcess } from '#src/api/client.js';
import { Emulator } from '#ui/emulator.js';
import { press } from '#ui/keys/dispatch.js';
import { initialState, type State } from '#ui/store/state.js';
import { Store } from '#ui/store/store.js';
import { Watch } from '#ui/store/watch.js';
import type { Ui } from '#ui/ui.js';
import type { ApiWorld } from '../api/world.js';
import { draw } from './draw.js';

export interface Desk {
  ui: Ui;
  readonly state: State;
  /** Names of keys; a text in quotes is typed. */
  keys(...keys: string[]): void;
  /** Resolves once the state of the frame that is shown is so. */
  until(so: (state: State) => unknown): Promise<void>;
  /** Resolves once the screen shows it. */
  shows(pattern: RegExp): Promise<void>;
  copied: string[];
  quits: number;
  /** What the editor makes of a text. */
  editor: (text: string) => Promise<string>;
}

/** A screen that does not come by then does not come. */
const PATIENCE_MS = 45_000;

/** Watches the API of a test's world. */
export async function desk(world: ApiWorld, size = { columns: 100, rows: 30 }): Promise<Desk> {
  const store = new Store(initialState(size, 'http://127.0.0.1:5627'));
  const { app } = world;
  const emulator = new Emulator({ send: inProcess(app), open: openInProcess(app) });
  const watch = new Watch(store, emulator);
  const made: Desk = {
    ui: {
      store,
      emulator,
      watch,
      host: {
        quit: () => {
          made.quits += 1;
        },
        edit: (text) => made.editor(text),
        copy: (text) => made.copied.push(text),
        redraw: () => {},
      },
    },
    get state() {
      return store.state;
    },
    keys: (...keys) => {
      for (const key of keys) {
        const text = /^'(.*)'$/s.exec(key)?.[1];
        press(
          made.ui,
          text === undefined ? { name: key, typed: key } : { name: 'paste', typed: text },
        );
      }
    },
    until: (so) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          clearTimeout(late);
          stop();
          settle();
        };
        const look = () => {
          if (so(store.snapshot())) end(resolve);
        };
        const stop = store.subscribe(look);
        const late = setTimeout(
          () =>
            end(() =>
              reject(new Error(`it is not so:\n${draw(store.snapshot(), Date.now()).join('\n')}`)),
            ),
          PATIENCE_MS,
        );
        look();
      }),
    shows: (pattern) => made.until((state) => pattern.test(draw(state, Date.now()).join('\n'))),
    copied: [],
    quits: 0,
    editor: async (text) => text,
  };
  onTestFinished(() => watch.stop());
  await watch.start();
  return made;
}
