import { layoutOf } from '../layout.js';
import type { ChoicePrompt, TextPrompt } from '../store/prompt.js';
import { typed } from '../store/prompt.js';
import type { Ui } from '../ui.js';
import { BINDINGS } from './bindings.js';
import { helpLines } from './help-lines.js';

/** A key as the terminal gave it: its name (`j`, `R`, `ctrl+c`, `pageup`) and what it types. */
export interface Key {
  name: string;
  /** The characters; of a paste, all of them. */
  typed: string;
}

/** Does what a key means on the screen that is shown. */
export function press(ui: Ui, key: Key): void {
  const state = ui.store.state;
  if (state.prompt !== undefined) answer(ui, state.prompt, key);
  else if (state.sheet !== undefined || state.help !== undefined) close(ui, key);
  else run(ui, key);
}

function run(ui: Ui, { name }: Key): void {
  const state = ui.store.state;
  BINDINGS.find((binding) => binding.keys.includes(name) && (binding.when?.(state) ?? true))?.run(
    ui,
  );
}

const SCROLL: Record<string, number> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -10,
  pagedown: 10,
  ' ': 10,
};

/** Any key but those that scroll closes what lies over the panel. */
function close(ui: Ui, key: Key): void {
  const by = SCROLL[key.name];
  ui.store.update((state) => {
    if (state.help === undefined || by === undefined) {
      return { ...state, help: undefined, sheet: undefined };
    }
    const { body } = layoutOf(state);
    const last = Math.max(0, helpLines(state.columns).length - body);
    return { ...state, help: Math.max(0, Math.min(last, state.help + by)) };
  }, 'now');
  if (key.name === 'ctrl+c') run(ui, key);
}

function answer(ui: Ui, prompt: TextPrompt | ChoicePrompt, key: Key): void {
  if (key.name === 'escape' || key.name === 'ctrl+c') ask(ui, undefined);
  else if (prompt.type === 'choice') choose(ui, prompt, key);
  else if (key.name === 'enter') submit(ui, prompt, prompt.value);
  else {
    const shortcut = prompt.value === '' ? prompt.shortcuts?.[key.name] : undefined;
    if (shortcut !== undefined) submit(ui, prompt, shortcut);
    else ask(ui, typed(prompt, key.name, key.typed) ?? prompt);
  }
}

function ask(ui: Ui, prompt: TextPrompt | ChoicePrompt | undefined): void {
  ui.store.update((state) => ({ ...state, prompt }), 'now');
}

function choose(ui: Ui, prompt: ChoicePrompt, { name }: Key): void {
  const { choices, selected } = prompt;
  const step = { left: -1, up: -1, backtab: -1, right: 1, down: 1, tab: 1 }[name];
  if (step !== undefined) {
    ask(ui, { ...prompt, selected: (selected + step + choices.length) % choices.length });
    return;
  }
  const chosen =
    name === 'enter' ? choices[selected] : choices.find((choice) => choice.key === name);
  if (chosen === undefined) return;
  ask(ui, undefined);
  chosen.run();
}

function submit(ui: Ui, prompt: TextPrompt, value: string): void {
  ask(ui, undefined);
  const error = prompt.submit(value);
  if (error !== undefined) ask(ui, { ...prompt, error });
}
