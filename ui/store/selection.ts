import type { Selection } from './state.js';

/**
 * The selection when the rows have changed: it stays with its row, or with the place of one that is
 * gone. Nothing that a person chose stays at the top, so new rows are seen.
 */
export function keep(selection: Selection, keys: readonly string[]): Selection {
  if (selection.key === undefined) return selection;
  const found = keys.indexOf(selection.key);
  if (found === selection.index) return selection;
  if (found < 0) {
    const index = Math.max(0, Math.min(selection.index, keys.length - 1));
    return { ...selection, index, key: keys[index] };
  }
  // What is in view stays there: the view moves with its rows.
  const top = Math.max(0, selection.top + found - selection.index);
  return { key: selection.key, index: found, top };
}

/** The selection moved by `by` rows, in a view of `height` rows. */
export function move(
  selection: Selection,
  keys: readonly string[],
  by: number,
  height: number,
): Selection {
  if (keys.length === 0) return { key: undefined, index: 0, top: 0 };
  const at = Math.min(selection.index, keys.length - 1);
  const index = Math.max(0, Math.min(keys.length - 1, at + by));
  // At the top nothing is chosen any more: the newest row is selected, whichever it is.
  return {
    key: index === 0 ? undefined : keys[index],
    index,
    top: view({ ...selection, index }, keys.length, height),
  };
}

/** The first row in view, so that the selected one is in it. */
export function view({ index, top }: Selection, count: number, height: number): number {
  const room = Math.max(1, height);
  const lowest = Math.max(0, count - room);
  const kept = Math.min(Math.max(top, index - room + 1), index);
  return Math.max(0, Math.min(kept, lowest));
}
