import type { Token } from './lexer.js';
import type { Report } from './messages.js';
import type { CopyIn } from './statement.js';

/** What the engine must not get, or not without its data. */
export function readCopy(
  tokens: readonly Token[],
  sql: string,
): { copyIn?: CopyIn; refusal?: Report } {
  let at = 1;
  if (tokens[at]?.text === 'binary') at += 1;
  const first = at;
  let parens = 0;
  let columns: number | undefined;
  while (at < tokens.length) {
    const { text, kind } = tokens[at]!;
    if (parens === 0 && kind === 'word' && (text === 'from' || text === 'to')) break;
    if (text === '(') parens += 1;
    if (text === ')') parens -= 1;
    if (parens === 1 && text === '(') columns = 1;
    if (parens === 1 && text === ',' && columns !== undefined) columns += 1;
    at += 1;
  }
  const direction = tokens[at];
  const place = tokens[at + 1];
  if (direction === undefined || place === undefined) return {};
  if (place.kind === 'string' || place.text === 'program') return { refusal: NO_FILES };
  if (direction.text !== 'from' || place.text !== 'stdin') return {};
  const open = tokens.findIndex(({ text }, i) => i >= first && text === '(');
  const nameEnd = open >= 0 && open < at ? tokens[open]!.start : direction.start;
  const words = tokens.slice(at).map(({ text }) => text.toLowerCase());
  return {
    copyIn: {
      table: sql.slice(tokens[first]!.start, nameEnd).trim(),
      columns: open >= 0 && open < at ? columns : undefined,
      binary: tokens[1]!.text === 'binary' || words.some((word) => /^'?binary'?$/.test(word)),
    },
  };
}

const NO_FILES: Report = {
  severity: 'ERROR',
  sqlstate: '0A000',
  message: 'COPY with a file or a program of the server is not there: the server is PGlite',
  hint: "Use COPY … FROM STDIN or TO STDOUT, or psql's \\copy.",
};
