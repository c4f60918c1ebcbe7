import { offered } from '../keys/bindings.js';
import type { State } from '../store/state.js';
import { type AnyPiece, bold, dim, text, widthOf } from '../text/pieces.js';

/** The keys that are useful here, as many as there is room for, and where the others are. */
export function keyLine(state: State): AnyPiece[] {
  const { prompt, columns } = state;
  if (prompt !== undefined) {
    const keys: [string, string][] =
      prompt.type === 'text'
        ? [
            ['⏎', 'do it'],
            ...(prompt.completions?.length ? [['Tab', 'complete'] as [string, string]] : []),
          ]
        : [
            ['←→', 'choose'],
            ['⏎', 'do it'],
          ];
    return [...keys, ['esc', 'leave it'] as [string, string]].flatMap(entry);
  }
  const last = [entry(['?', 'keys']), entry(['q', 'quit'])].flat();
  const room = columns - widthOf(last);
  const pieces: AnyPiece[] = [];
  for (const { shown, label = '' } of offered(state)) {
    const next = entry([shown, label]);
    if (widthOf(pieces) + widthOf(next) > room) break;
    pieces.push(...next);
  }
  return [...pieces, ...last];
}

function entry([key, label]: [string, string]): AnyPiece[] {
  return [text(' '), bold(key, 'info'), dim(` ${label} `)];
}
