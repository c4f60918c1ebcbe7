/** The full-screen interface: opened on a terminal, beside the emulator or for one elsewhere. */
import { render } from 'ink';
import type { ReactNode } from 'react';
import { say } from './actions/perform.js';
import { Header } from './components/Header.js';
import { Panel } from './components/Panel.js';
import { Surroundings } from './components/Surroundings.js';
import { Emulator, type Link } from './emulator.js';
import { press } from './keys/dispatch.js';
import { layoutOf } from './layout.js';
import { Seconds } from './store/seconds.js';
import { initialState, type Totals } from './store/state.js';
import { Store } from './store/store.js';
import { Watch } from './store/watch.js';
import { editText } from './terminal/editor.js';
import { Terminal } from './terminal/terminal.js';
import { plain } from './text/plain.js';
import type { Ui } from './ui.js';

export interface ScreenOptions {
  link: Link;
  /** Where the emulator answers. */
  place: string;
  /** `q` or Ctrl-C was pressed. */
  onQuit: () => void;
}

export interface Screen {
  /** A message for whoever looks. */
  say: (text: string) => void;
  /** The emulator stops; what it waits for. */
  stopping: (text: string) => void;
  /** Gives the terminal back. @returns what the run came to. */
  close: () => Totals;
  /** Resolves when the screen is gone: with an error, when it failed. */
  closed: Promise<Error | undefined>;
}

/** Takes the terminal and shows the emulator. */
export function openScreen({ link, place, onQuit }: ScreenOptions): Screen {
  const { stdin, stdout, stderr } = process;
  const terminal = new Terminal({
    stdin,
    stdout,
    stderr,
    onKey: (key) => press(ui, key),
    onResize: (size) => store.update((state) => ({ ...state, ...size }), 'now'),
    onLine: (line) => say(ui, { tone: 'info', text: plain(line) }),
  });
  const store = new Store(initialState(terminal.size, place));
  const emulator = new Emulator(link);
  const watch = new Watch(store, emulator);
  const ui: Ui = {
    store,
    emulator,
    watch,
    host: {
      quit: onQuit,
      copy: (text) => terminal.copy(text),
      redraw: () => terminal.painter.repaint(),
      edit: (text) => terminal.lend(() => editText(text)),
    },
  };
  terminal.take();
  const seconds = new Seconds();
  const draw = (part: ReactNode, height: () => number) =>
    render(
      <Surroundings store={store} seconds={seconds} colours={!process.env.NO_COLOR}>
        {part}
      </Surroundings>,
      {
        stdout: terminal.painter.region(height),
        stdin,
        // Each frame is written whole, and the painter writes what changed.
        debug: true,
        concurrent: true,
        exitOnCtrlC: false,
        patchConsole: false,
      },
    );
  const layout = () => layoutOf(store.snapshot());
  const parts = [
    // On its own: its countdown changes every second, and costs a quarter of drawing everything.
    draw(<Header />, () => layout().header),
    draw(<Panel />, () => store.snapshot().rows - layout().header),
  ];
  void watch.start();
  const closed = Promise.race(parts.map((part) => part.waitUntilExit())).then(
    () => undefined,
    (error: Error) => {
      terminal.close();
      watch.stop();
      for (const part of parts) part.unmount();
      return error;
    },
  );
  return {
    say: (text) => say(ui, { tone: 'info', text: plain(text) }),
    stopping: (text) => store.update((state) => ({ ...state, stopping: text }), 'now'),
    close: () => {
      watch.stop();
      terminal.close();
      for (const part of parts) part.unmount();
      return store.state.totals;
    },
    closed,
  };
}
