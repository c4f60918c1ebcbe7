import { emitKeypressEvents, type Interface } from 'node:readline';
import type { Key } from '../keys/dispatch.js';

/** What node's reader says of a key. */
interface Keypress {
  name?: string;
  ctrl?: boolean;
  meta?: boolean;
  shift?: boolean;
  sequence?: string;
}

/** How long an escape may wait for the rest of a sequence. Milliseconds. */
const ESCAPE_MS = 50;

/** Reads keys from a terminal in raw mode. @returns a function that stops it. */
export function readKeys(stdin: NodeJS.ReadStream, listener: (key: Key) => void): () => void {
  // Of an interface, this is all that it looks at.
  emitKeypressEvents(stdin, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  let pasted: string | undefined;
  const onKeypress = (character: string | undefined, key: Keypress) => {
    if (key.name === 'paste-start') pasted = '';
    else if (key.name === 'paste-end') {
      listener({ name: 'paste', typed: (pasted ?? '').replace(/[\r\n\t]+/g, ' ') });
      pasted = undefined;
    } else if (pasted !== undefined) pasted += key.sequence ?? '';
    else listener({ name: nameOf(character, key), typed: character ?? '' });
  };
  stdin.on('keypress', onKeypress);
  return () => stdin.off('keypress', onKeypress);
}

function nameOf(character: string | undefined, { name, ctrl, meta, shift }: Keypress): string {
  if (name === undefined) return character ?? '';
  if (ctrl) return `ctrl+${name}`;
  if (name === 'return' || name === 'enter') return 'enter';
  if (name === 'tab' && shift) return 'backtab';
  // A letter is its character, large or small; with meta it is none.
  if (meta && name !== 'escape') return `meta+${name}`;
  return name.length === 1 || name === 'space' ? (character ?? name) : name;
}
