/** How a running emulator is shown: on a screen of its own, or in lines. */
import type { Emulator } from '../dev.js';
import { printEvents } from './lines.js';
import type { Output } from './output.js';
import { closeScreen, type OpenScreen } from './screen.js';

export interface Show {
  /** A word to whoever watches. */
  say: (text: string) => void;
  /** The emulator stops, and what it waits for. */
  stopping: (text: string) => void;
  end: () => void;
}

export function showLines({ world }: Emulator, output: Output): Show {
  const note = (text: string) => output.note(text);
  return { say: note, stopping: note, end: printEvents(world.events, output) };
}

/** @param onQuit is called by the key that quits, each time. */
export async function showScreen(
  emulator: Emulator,
  output: Output,
  open: OpenScreen,
  onQuit: () => void,
): Promise<Show> {
  // Loaded by now: the port answers with them.
  const [{ createApp }, { inProcess, openInProcess }] = await Promise.all([
    import('../api/app.js'),
    import('../api/client.js'),
  ]);
  const app = createApp(emulator.world.service);
  const link = { send: inProcess(app), open: openInProcess(app) };
  const screen = open({ link, place: emulator.url, onQuit });
  let lines: Show | undefined;
  void screen.closed.then((error) => {
    if (error === undefined) return;
    // The emulator is more than its screen: it goes on.
    output.warn(`the screen failed, here are plain lines: ${error.message}`);
    lines = showLines(emulator, output);
  });
  return {
    say: (text) => (lines ?? screen).say(text),
    stopping: (text) => (lines ?? screen).stopping(text),
    end: () => (lines === undefined ? closeScreen(screen, output) : lines.end()),
  };
}
