/** The full-screen interface, loaded only where it is opened. */
import type { Screen, ScreenOptions } from '../../ui/open.js';
import { formatDuration } from '../job/duration.js';
import { headline, shownKind, visible } from '../job/text.js';
import type { Output } from './output.js';

/** Flags that decide about it. */
export interface ScreenFlags {
  tui?: boolean;
}

/** Only on a terminal that someone looks at and types into. */
export function wantsScreen(output: Output, flags: ScreenFlags): boolean {
  return (
    flags.tui !== false &&
    output.onTerminal &&
    process.stdin.isTTY === true &&
    !process.env.CI &&
    !output.json &&
    !output.quiet
  );
}

export type OpenScreen = (options: ScreenOptions) => Screen;

/** Loads it: a fifth of a second, while something else is waited for. */
export async function loadScreen(): Promise<OpenScreen> {
  // React and Ink decide by these, at the moment when they are loaded, whether to be developed with:
  // that is slower, keeps a record of every frame, and looks for developer tools.
  const { NODE_ENV, DEV } = process.env;
  process.env.NODE_ENV = 'production';
  delete process.env.DEV;
  try {
    return (await import('../../ui/open.js')).openScreen;
  } finally {
    restore('NODE_ENV', NODE_ENV);
    restore('DEV', DEV);
  }
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

/** Closes it and leaves in the terminal what the run came to. */
export function closeScreen(screen: Screen, output: Output): void {
  const { since, claimed, done, retried, dead, died } = screen.close();
  const took = formatDuration(Date.now() - since);
  const word = output.paint(dead > 0 ? 'red' : 'green', `${dead} dead`);
  output.line(`in ${took}: ${claimed} claimed, ${done} done, ${retried} retried, ${word}`);
  for (const { id, kind, error } of died) {
    output.line(`  job ${id} ${shownKind(kind)}: ${visible(headline(error))}`);
  }
  if (died.length > 0) output.line(`  jobq-dev jobs show ${died[0]!.id} shows what happened`);
}
