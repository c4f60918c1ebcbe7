/**
 * Scans JSON text (RFC 8259) without building values. Each `skip…` answers where what starts at
 * `from` ends, or throws a JsonFault.
 */

/** A character that takes two UTF-16 units. */
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;

/** Where JSON text is wrong. Lines and columns count from 1, columns in characters. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly line: number;
  readonly column: number;
  constructor(
    text: string,
    position: number,
    readonly reason: string,
  ) {
    let line = 1;
    let lineStart = 0;
    for (
      let end = text.indexOf('\n');
      end >= 0 && end < position;
      end = text.indexOf('\n', end + 1)
    ) {
      line += 1;
      lineStart = end + 1;
    }
    const before = text.slice(lineStart, position);
    const column = before.length - (before.match(PAIR)?.length ?? 0) + 1;
    super(`line ${line}, column ${column}: ${reason}`);
    this.line = line;
    this.column = column;
  }
}

const SPACE = /[ \t\n\r]*/y;
/** What ends a run of plain characters in a string. Searched for, not matched: a pattern over the
 * whole string needs V8's backtracking stack and fails at some tens of megabytes. */
const STRING_STOP = /["\\\u0000-\u001f]/g;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

function match(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

export function skipSpace(text: string, from: number): number {
  return match(SPACE, text, from) ?? from;
}

export function skipString(text: string, from: number): number {
  if (text[from] !== '"') throw unexpected(text, from);
  let position = from + 1;
  for (;;) {
    STRING_STOP.lastIndex = position;
    const stop = STRING_STOP.exec(text)?.index;
    if (stop === undefined) throw new JsonFault(text, from, 'a string that does not end');
    if (text[stop] === '"') return stop + 1;
    const next = match(ESCAPE, text, stop);
    if (next === undefined) {
      const what = text[stop] === '\\' ? 'a bad escape' : 'a control character';
      throw new JsonFault(text, stop, `${what} in a string`);
    }
    position = next;
  }
}

/** A number, `true`, `false` or `null`. */
export function skipScalar(text: string, from: number): number {
  const end = match(SCALAR, text, from);
  if (end !== undefined) return end;
  if (!/[-\d]/.test(text[from] ?? '')) throw unexpected(text, from);
  throw new JsonFault(text, from, 'a number that is not written as JSON has it');
}

/** Where the value that starts at `from` ends. Keeps its own stack, so depth costs no recursion. */
export function skipValue(text: string, from: number): number {
  const open: ('{' | '[')[] = [];
  let position = from;
  for (;;) {
    const char = text[position];
    if (char === '{' || char === '[') {
      const inside = skipSpace(text, position + 1);
      if (text[inside] === (char === '{' ? '}' : ']')) {
        position = inside + 1;
      } else {
        open.push(char);
        position = char === '{' ? skipKey(text, inside) : inside;
        continue;
      }
    } else if (char === '"') {
      position = skipString(text, position);
    } else {
      position = skipScalar(text, position);
    }
    // A value is complete: close what it completes, or go on to the next one.
    for (;;) {
      const inner = open.at(-1);
      if (inner === undefined) return position;
      position = skipSpace(text, position);
      if (text[position] === ',') {
        position = skipSpace(text, position + 1);
        if (inner === '{') position = skipKey(text, position);
        break;
      }
      if (text[position] !== (inner === '{' ? '}' : ']')) throw unexpected(text, position);
      open.pop();
      position += 1;
    }
  }
}

function skipKey(text: string, from: number): number {
  return skipColon(text, skipString(text, from));
}

/** From the end of a key to its value. */
export function skipColon(text: string, from: number): number {
  const colon = skipSpace(text, from);
  if (text[colon] !== ':') throw unexpected(text, colon);
  return skipSpace(text, colon + 1);
}

export function unexpected(text: string, position: number): JsonFault {
  const code = text.codePointAt(position);
  return new JsonFault(
    text,
    position,
    code === undefined
      ? 'the JSON ends too early'
      : `unexpected ${JSON.stringify(String.fromCodePoint(code))}`,
  );
}
