/**
 * JSON that keeps every digit. `JSON.parse` turns 1970670598291982290 into …300, so payloads are
 * never parsed: they are cut out of the text that carries them and put back as text.
 *
 * The scanner is ours because no well-kept library hands out the text of a value: lossless-json
 * parses and prints again (and refuses keys that stand twice), V8's `JSON.parse` on Node 20 gives
 * no position for most errors.
 */
import { randomUUID } from 'node:crypto';
import {
  JsonFault,
  skipColon,
  skipScalar,
  skipSpace,
  skipString,
  skipValue,
  unexpected,
} from './json-scan.js';

export { JsonFault } from './json-scan.js';

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
  const found = new Map<string, Member>();
  let position = skipSpace(text, 0);
  const isObject = text[position] === '{';
  if (!isObject && text[position] !== '[') {
    checkJson(text);
    throw new JsonFault(text, position, 'an object or array is needed');
  }
  const close = isObject ? '}' : ']';
  position = skipSpace(text, position + 1);
  for (let index = 0; index > 0 || text[position] !== close; index += 1) {
    const keyPosition = position;
    let key = String(index);
    if (isObject) ({ key, position } = readKey(text, position));
    const end = skipValue(text, position);
    found.set(key, { text: text.slice(position, end), keyPosition, position });
    position = skipSpace(text, end);
    if (text[position] === close) break;
    if (text[position] !== ',') throw unexpected(text, position);
    position = skipSpace(text, position + 1);
  }
  const end = skipSpace(text, position + 1);
  if (end < text.length) throw unexpected(text, end);
  return found;
}

/** The key that stands at `from`, and where its value starts. */
function readKey(text: string, from: number): { key: string; position: number } {
  const end = skipString(text, from);
  return { key: JSON.parse(text.slice(from, end)) as string, position: skipColon(text, end) };
}

/** A string, number, boolean or null of a JSON text, at `text.slice(from, to)`. */
export interface Scalar {
  /** Keys and indexes that lead to it; the same array for all, changed as the scan goes on. */
  path: readonly string[];
  from: number;
  to: number;
}

/**
 * Every scalar of a JSON text, in order. Keeps its own stack, so depth costs no recursion.
 * @throws JsonFault
 */
export function* scalars(text: string): Generator<Scalar> {
  checkJson(text);
  const path: string[] = [];
  const inObject: boolean[] = [];
  let position = skipSpace(text, 0);
  const enter = (at: number) => {
    if (!inObject.at(-1)) return at;
    const { key, position } = readKey(text, at);
    path[path.length - 1] = key;
    return position;
  };
  for (;;) {
    const char = text[position]!;
    if (char === '{' || char === '[') {
      const inside = skipSpace(text, position + 1);
      if (text[inside] !== (char === '{' ? '}' : ']')) {
        path.push('0');
        inObject.push(char === '{');
        position = enter(inside);
        continue;
      }
      position = inside + 1;
    } else {
      const to = char === '"' ? skipString(text, position) : skipScalar(text, position);
      yield { path, from: position, to };
      position = to;
    }
    // A value is complete: leave what it completes, or go on to the next one.
    for (;;) {
      if (path.length === 0) return;
      position = skipSpace(text, position);
      if (text[position] === ',') {
        if (!inObject.at(-1)) path[path.length - 1] = String(Number(path.at(-1)) + 1);
        position = enter(skipSpace(text, position + 1));
        break;
      }
      path.pop();
      inObject.pop();
      position += 1;
    }
  }
}
