import type { Param } from './port.js';

/**
 * How values travel as Postgres text, the same for both drivers: parameters are sent as text with
 * no type, so that the server infers it from the statement (as `pg` does), and results are read by
 * their type's oid. One table for two drivers, so that they cannot drift apart.
 */

/** The last and the first moment a Date can hold; they stand for `infinity` and `-infinity`. */
const LAST_MS = 8.64e15;

/** @returns the text Postgres reads, or null. Strings go as they are, never quoted or stringified. */
export function encodeParam(value: Param): string | null {
  if (value === null) return null;
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value instanceof Date ? encodeDate(value) : encodeArray(value);
  }
}

function encodeDate(date: Date): string {
  const ms = date.getTime();
  if (ms >= LAST_MS) return 'infinity';
  if (ms <= -LAST_MS) return '-infinity';
  const iso = date.toISOString();
  const year = date.getUTCFullYear();
  // toISOString writes years outside 0000…9999 as ±YYYYYY and has a year 0; Postgres has neither.
  if (year >= 1 && year <= 9999) return iso;
  const rest = iso.slice(iso.indexOf('-', 1));
  return year > 0
    ? `${year}${rest}`
    : `${String(1 - year).padStart(4, '0')}${rest.replace('Z', '+00')} BC`;
}

function encodeArray(items: readonly (string | number | boolean | null)[]): string {
  const texts = items.map((item) => {
    if (item === null) return 'NULL';
    if (typeof item !== 'string') return String(item);
    return `"${item.replace(/["\\]/g, '\\$&')}"`;
  });
  return `{${texts.join(',')}}`;
}

export type Decode = (text: string) => unknown;

const asText: Decode = (text) => text;
const asNumber: Decode = Number;
const asBoolean: Decode = (text) => text === 't';

/** Type and array oids are fixed for built-in types (`pg_type.dat`). */
const SCALARS: readonly (readonly [oid: number, arrayOid: number, decode: Decode])[] = [
  [16, 1000, asBoolean], // bool
  [21, 1005, asNumber], // int2
  [23, 1007, asNumber], // int4
  [26, 1028, asNumber], // oid
  [700, 1021, asNumber], // float4
  [701, 1022, asNumber], // float8
  [1184, 1185, decodeTimestamp], // timestamptz
  [20, 1016, asText], // int8: a number would lose digits past 2^53
  [1700, 1231, asText], // numeric
  [114, 199, asText], // json: text, so that nothing re-prints a payload
  [3802, 3807, asText], // jsonb
  [25, 1009, asText], // text
  [1043, 1015, asText], // varchar
  [1042, 1014, asText], // bpchar
  [19, 1003, asText], // name
  [2950, 2951, asText], // uuid
];

const DECODERS = new Map<number, Decode>();
for (const [oid, arrayOid, decode] of SCALARS) {
  DECODERS.set(oid, decode);
  DECODERS.set(arrayOid, (text) => decodeArray(text, decode));
}

/** @returns how to read a value of the type `oid`; text for any type not listed in port.ts. */
export function decoderFor(oid: number): Decode {
  return DECODERS.get(oid) ?? asText;
}

const TIMESTAMP =
  /^(\d{4,})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/;

/** Reads the server's ISO output, in whatever zone the session prints it. Milliseconds are kept. */
function decodeTimestamp(text: string): Date {
  const m = TIMESTAMP.exec(text);
  if (!m) {
    if (text === 'infinity') return new Date(LAST_MS);
    if (text === '-infinity') return new Date(-LAST_MS);
    return new Date(text);
  }
  const year = m[12] ? 1 - Number(m[1]) : Number(m[1]);
  const date = new Date(0);
  date.setUTCFullYear(year, Number(m[2]) - 1, Number(m[3]));
  const millis = Number((m[7] ?? '').padEnd(3, '0').slice(0, 3));
  date.setUTCHours(Number(m[4]), Number(m[5]), Number(m[6]), millis);
  const offsetS = Number(m[9]) * 3600 + Number(m[10] ?? 0) * 60 + Number(m[11] ?? 0);
  const ms = date.getTime() - (m[8] === '-' ? -offsetS : offsetS) * 1000;
  if (Number.isNaN(ms)) return new Date(year > 0 ? LAST_MS : -LAST_MS);
  return new Date(ms);
}

/** Reads a Postgres array literal of any depth. */
export function decodeArray(text: string, decode: Decode): unknown[] {
  // Arrays with bounds other than 1 are printed as `[2:3]={…}`.
  let at = text.indexOf('{');
  const list = (): unknown[] => {
    const items: unknown[] = [];
    at += 1;
    if (text[at] === '}') {
      at += 1;
      return items;
    }
    for (;;) {
      items.push(text[at] === '{' ? list() : item());
      const end = text[at];
      at += 1;
      if (end !== ',') return items;
    }
  };
  const item = (): unknown => {
    if (text[at] !== '"') {
      const start = at;
      while (text[at] !== ',' && text[at] !== '}' && at < text.length) at += 1;
      const raw = text.slice(start, at);
      return raw === 'NULL' ? null : decode(raw);
    }
    let value = '';
    at += 1;
    while (text[at] !== '"' && at < text.length) {
      if (text[at] === '\\') at += 1;
      value += text[at];
      at += 1;
    }
    at += 1;
    return decode(value);
  };
  return list();
}
