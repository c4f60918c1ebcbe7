/** A question in the bottom line: for a text, or for one of a few answers. */
export type Prompt = TextPrompt | ChoicePrompt;

export interface TextPrompt {
  type: 'text';
  label: string;
  /** What may be typed, shown while nothing is. */
  placeholder: string;
  value: string;
  /** Place in `value`, in UTF-16 units, never inside a character. */
  cursor: number;
  /** What was wrong with what was entered last. */
  error?: string;
  /** Known beginnings, for Tab. */
  completions?: readonly string[];
  /** Keys that answer at once while nothing is typed. */
  shortcuts?: Readonly<Record<string, string>>;
  /** @returns what is wrong with it; undefined closes the prompt. */
  submit: (value: string) => string | undefined;
}

export interface ChoicePrompt {
  type: 'choice';
  label: string;
  choices: readonly { key: string; label: string; run: () => void }[];
  selected: number;
}

/** @returns the prompt after a key; `undefined` when the key means nothing to it. */
export function typed(prompt: TextPrompt, key: string, sequence: string): TextPrompt | undefined {
  const { value, cursor } = prompt;
  const { error: _error, ...rest } = prompt;
  const put = (before: string, after: string): TextPrompt => ({
    ...rest,
    value: before + after,
    cursor: before.length,
  });
  const before = value.slice(0, cursor);
  const after = value.slice(cursor);
  switch (key) {
    case 'left':
      return { ...rest, cursor: cursor - lastCharacter(before).length };
    case 'right':
      return { ...rest, cursor: cursor + firstCharacter(after).length };
    case 'home':
    case 'ctrl+a':
      return { ...rest, cursor: 0 };
    case 'end':
    case 'ctrl+e':
      return { ...rest, cursor: value.length };
    case 'backspace':
      return put(before.slice(0, before.length - lastCharacter(before).length), after);
    case 'delete':
      return put(before, after.slice(firstCharacter(after).length));
    case 'ctrl+u':
      return put('', after);
    case 'ctrl+w':
      return put(before.replace(/\S*\s*$/, ''), after);
    case 'tab':
      return complete(prompt);
    default:
      // One character, or what was pasted: a line.
      return /^[^\u0000-\u001f\u007f]+$/u.test(sequence)
        ? put(before + sequence, after)
        : undefined;
  }
}

function complete(prompt: TextPrompt): TextPrompt {
  const { value, completions = [] } = prompt;
  const fitting = completions.filter((word) => word.startsWith(value) && word !== value);
  const [first] = fitting;
  if (first === undefined) return prompt;
  const common = fitting.reduce((shared, word) => {
    let length = 0;
    while (length < shared.length && shared[length] === word[length]) length += 1;
    return shared.slice(0, length);
  }, first);
  return { ...prompt, value: common, cursor: common.length };
}

const segmenter = new Intl.Segmenter();

function firstCharacter(text: string): string {
  return segmenter.segment(text)[Symbol.iterator]().next().value?.segment ?? '';
}

function lastCharacter(text: string): string {
  return [...segmenter.segment(text)].at(-1)?.segment ?? '';
}
