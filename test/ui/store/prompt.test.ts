import { describe, expect, it } from 'vitest';
import { type TextPrompt, typed } from '#ui/store/prompt.js';

const EMPTY: TextPrompt = {
  type: 'text',
  label: '',
  placeholder: '',
  value: '',
  cursor: 0,
  completions: ['push', 'pull_request', 'release'],
  submit: () => undefined,
};

/** The value after keys, `|` where the cursor is. */
function after(...keys: (string | [name: string, typed: string])[]): string {
  const { value, cursor } = keys.reduce((prompt, key) => {
    const [name, sequence] = typeof key === 'string' ? [key, key] : key;
    return typed(prompt, name, sequence) ?? prompt;
  }, EMPTY);
  return `${value.slice(0, cursor)}|${value.slice(cursor)}`;
}

describe('typing', () => {
  it.each([
    [['a', 'b'], 'ab|'],
    [['a', 'b', 'left', 'c'], 'ac|b'],
    [['a', 'b', 'home', 'c', 'end', 'd'], 'cabd|'],
    [['a', 'b', 'backspace'], 'a|'],
    [['a', 'b', 'left', 'delete'], 'a|'],
    [['a', ' ', 'b', 'c', 'ctrl+w'], 'a |'],
    [['a', 'b', 'left', 'ctrl+u'], '|b'],
    // A character is one, however many units it takes.
    [['x', '👩‍👩‍👧', 'backspace'], 'x|'],
    [['👍🏽', 'left', 'a'], 'a|👍🏽'],
    [['left', 'backspace', 'delete'], '|'],
    [['f5', 'ctrl+x'].map((name) => [name, '\u001b[15~'] as [string, string]), '|'],
    [[['paste', '{"a": 1}'] as [string, string]], '{"a": 1}|'],
    [['p', 'u', 'tab'], 'pu|'],
    [['p', 'u', 's', 'tab'], 'push|'],
    [['r', 'tab'], 'release|'],
    [['z', 'tab'], 'z|'],
  ])('%j gives %j', (keys, value) => {
    expect(after(...keys)).toBe(value);
  });
});
