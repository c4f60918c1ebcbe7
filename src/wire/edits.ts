/** Changes of a statement's text. */
import type { Token } from './lexer.js';

export interface Edit {
  start: number;
  end: number;
  text: string;
}

export function renamed({ start, end }: Token, name: string): Edit {
  return { start, end, text: name };
}

export function replaced(tokens: readonly Token[], text: string): Edit {
  return { start: tokens[0]!.start, end: tokens.at(-1)!.end, text };
}

export function shifted({ start, end, text }: Edit, by: number): Edit {
  return { start: start + by, end: end + by, text };
}

export function edited(sql: string, edits: readonly Edit[]): string {
  let out = sql;
  for (const { start, end, text } of [...edits].sort((a, b) => b.start - a.start)) {
    out = out.slice(0, start) + text + out.slice(end);
  }
  return out;
}
