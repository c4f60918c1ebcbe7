import type { State } from '../store/state.js';
import type { Ui } from '../ui.js';

/** A key, what it does, and the command that does the same. */
export interface Binding {
  keys: readonly string[];
  /** How the help and the footer write it. */
  shown: string;
  /** For the footer; without one it is only in the help. */
  label?: string;
  /** Left out where the help of another key names it, too. */
  help?: string;
  /** The same from a shell, without the program's name. */
  command?: string;
  /** Where it means something; everywhere when it is left out. */
  when?: (state: State) => boolean;
  run: (ui: Ui) => void;
}

export const inJob = ({ views }: State): boolean => views.length > 0;

/** Whether the text of an open job is searched. */
export const searching = ({ views }: State): boolean => (views.at(-1)?.search ?? '') !== '';
