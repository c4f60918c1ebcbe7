import type { ChoicePrompt, TextPrompt } from '../store/prompt.js';
import type { Ui } from '../ui.js';

type Question = Omit<TextPrompt, 'type' | 'value' | 'cursor'> & { value?: string };

/** Asks for a text in the bottom line. */
export function askText({ store }: Ui, { value = '', ...question }: Question): void {
  const prompt: TextPrompt = { type: 'text', value, cursor: value.length, ...question };
  store.update((state) => ({ ...state, prompt, toast: undefined }), 'now');
}

/** Asks for one of a few answers. Escape is none of them. */
export function askChoice({ store }: Ui, label: string, choices: ChoicePrompt['choices']): void {
  const prompt: ChoicePrompt = { type: 'choice', label, choices, selected: 0 };
  store.update((state) => ({ ...state, prompt, toast: undefined }), 'now');
}

/** Asks whether to do something that cannot be taken back. */
export function confirm(ui: Ui, question: string, run: () => void): void {
  askChoice(ui, question, [
    { key: 'y', label: 'yes', run },
    { key: 'n', label: 'no', run: () => {} },
  ]);
}
