import { JobqError } from '../../src/errors.js';
import type { Toast } from '../store/state.js';
import { plain } from '../text/plain.js';
import type { Ui } from '../ui.js';

/** How long a message stays. Milliseconds. */
const STAYS_MS = { ok: 5_000, info: 10_000, bad: 12_000 };

/** Shows a message for a while. */
export function say({ store }: Ui, toast: Toast): void {
  store.update((state) => ({ ...state, toast }), 'now');
  setTimeout(() => {
    store.update((state) => (state.toast === toast ? { ...state, toast: undefined } : state));
  }, STAYS_MS[toast.tone]).unref();
}

/**
 * Does what a key asks for and shows what came of it.
 * @param work gives back what to say; undefined says nothing.
 */
export async function perform(ui: Ui, work: () => Promise<string | undefined>): Promise<void> {
  try {
    const text = await work();
    if (text !== undefined) say(ui, { tone: 'ok', text });
  } catch (error) {
    say(ui, complaint(error as Error));
  }
  ui.watch.refreshNow();
}

/** An error as a message: what is wrong, and what to do. */
export function complaint(error: Error): Toast {
  const hint = error instanceof JobqError ? error.hint : undefined;
  return {
    tone: 'bad',
    text: plain(error.message),
    ...(hint !== undefined && { hint: plain(hint) }),
  };
}
