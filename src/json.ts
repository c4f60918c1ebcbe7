/**
 * JSON that keeps every digit. `JSON.parse` turns 1970670598291982290 into …300, so payloads are
 * never parsed: they are cut out of the text that carries them and put back as text.
 *
 * The scanner is ours because no well-kept library hands out the text of a value: lossless-json
 * parses and prints again (and refuses keys that stand twice), V8's `JSON.parse` on Node 20 gives
 * no position for most errors.
 */
import { randomUUID } from 'node:crypto';

/** Text that is JSON already; `stringify` puts it in as it is. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** As `JSON.stringify`, with `RawJson` values put in verbatim. Dates become ISO strings. */
export function stringify(value: unknown, indent = 0): string {
  const raws: string[] = [];
  const mark = randomUUID();
  const text = JSON.stringify(
    value,
    (_key, item) => {
      if (!(item instanceof RawJson)) return item;
      raws.push(item.text);
      return `${mark}:${raws.length - 1}`;
    },
    indent,
  );
  if (raws.length === 0) return text;
  return text.replace(new RegExp(`"${mark}:(\\d+)"`, 'g'), (_match, index) => raws[Number(index)]!);
}

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

/**
 * Checks that `text` is JSON (RFC 8259).
 * @throws JsonFault
 */
export function checkJson(text: string): void {
  const end = skipSpace(text, skipValue(text, skipSpace(text, 0)));
  if (end < text.length) throw unexpected(text, end);
}

/**
 * Checks that `text`, which is JSON, holds nothing that Postgres' jsonb refuses all the same: an
 * escaped NUL, or one half of a surrogate pair.
 * @throws JsonFault
 */
export function checkJsonb(text: string): void {
  for (const { index, 1: code } of text.matchAll(ESCAPES)) {
    if (code === undefined) continue;
    if (code === '0000') throw new JsonFault(text, index, '\\u0000 cannot be stored in jsonb');
    if (/^d[89a-f]/i.test(code)) {
      throw new JsonFault(text, index, `\\u${code} is half a character`);
    }
  }
}

/** The escapes of JSON text; captured is the code of one that stands for itself, no pair's. */
const ESCAPES =
  /\\(?:[^u]|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u([\da-fA-F]{4}))/g;

/**
 * The values of a JSON object, by key, or of an array, by index, each as its own JSON text.
 * Of a key that stands twice the last wins, as in Postgres' jsonb.
 * @throws JsonFault when `text` is not one JSON object or array.
 */
export function slices(text: string): Map<string, string> {
  return new Map([...members(text)].map(([key, member]) => [key, member.text]));
}

/** A value inside an object or array, and where it stands in the text. */
export interface Member {
  text: string;
  /** Of an array's item: where it starts itself. */
  keyPosition: number;
  position: number;
}

/**
 * As `slices`, with positions.
 * @throws JsonFault when `text` is not one JSON object or array.
 */
export function members(text: string): Map<string, Member> {
  checkJson(text);
  const found = new Map<string, Member>();
  let position = skipSpace(text, 0);
  const isObject = text[position] === '{';
  if (!isObject && text[position] !== '[') {
    throw new JsonFault(text, position, 'an object or array is needed');
  }
  position = skipSpace(text, position + 1);
  for (let index = 0; text[position] !== '}' && text[position] !== ']'; index += 1) {
    let key = String(index);
    const keyPosition = position;
    if (isObject) {
      const end = skipString(text, position);
      key = JSON.parse(text.slice(position, end)) as string;
      position = skipSpace(text, skipSpace(text, end) + 1);
    }
    const end = skipValue(text, position);
    found.set(key, { text: text.slice(position, end), keyPosition, position });
    position = skipSpace(text, end);
    if (text[position] === ',') position = skipSpace(text, position + 1);
  }
  return found;
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

function skipSpace(text: string, from: number): number {
  return match(SPACE, text, from) ?? from;
}

function skipString(text: string, from: number): number {
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

/** Where the value that starts at `from` ends. Keeps its own stack, so depth costs no recursion. */
function skipValue(text: string, from: number): number {
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
      const end = match(SCALAR, text, position);
      if (end === undefined) {
        if (!/[-\d]/.test(char ?? '')) throw unexpected(text, position);
        throw new JsonFault(text, position, 'a number that is not written as JSON has it');
      }
      position = end;
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
  const colon = skipSpace(text, skipString(text, from));
  if (text[colon] !== ':') throw unexpected(text, colon);
  return skipSpace(text, colon + 1);
}

function unexpected(text: string, position: number): JsonFault {
  const code = text.codePointAt(position);
  return new JsonFault(
    text,
    position,
    code === undefined
      ? 'the JSON ends too early'
      : `unexpected ${JSON.stringify(String.fromCodePoint(code))}`,
  );
}
