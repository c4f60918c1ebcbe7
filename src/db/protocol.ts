import { DatabaseError, type Param, type Row } from './port.js';
import type { StatementUse } from './prepared.js';
import { type Decode, decoderFor, encodeParam } from './values.js';

/**
 * The few messages of the Postgres protocol (version 3) that the PGlite driver speaks with its
 * worker. The worker passes bytes through; the messages are written and read here, in the caller's
 * thread.
 *
 * Why not PGlite's own `query()`: it makes six calls into the engine per statement (parse,
 * describe, bind, describe, execute, sync) and the rows would then be cloned between threads. One
 * message with all of them, answered by one transferred buffer, makes the thread hop cheaper than
 * what it replaces.
 * Source: https://www.postgresql.org/docs/current/protocol-message-formats.html
 */

/** One simple query: any number of statements, no parameters. */
export function simpleQuery(sql: string): Uint8Array<ArrayBuffer> {
  const length = Buffer.byteLength(sql);
  const out = allocate(1 + 4 + length + 1);
  out[0] = 0x51; // Q
  out.writeInt32BE(4 + length + 1, 1);
  out.write(sql, 5);
  return out;
}

/**
 * One statement with parameters: Parse, Bind, Describe, Execute and Sync in one buffer. Under a
 * name that was parsed before, without Parse. Before a name is parsed it is closed: it may be left
 * from a use whose Parse went well and whose Bind or Execute did not.
 */
export function extendedQuery(
  sql: string,
  params: readonly Param[],
  { name, parse }: StatementUse = { name: '', parse: true },
): Uint8Array<ArrayBuffer> {
  const texts = params.map(encodeParam);
  const sqlLength = Buffer.byteLength(sql);
  const lengths = texts.map((text) => (text === null ? -1 : Buffer.byteLength(text)));
  const valuesLength = lengths.reduce((sum, length) => sum + 4 + Math.max(length, 0), 0);
  const closeLength = parse && name !== '' ? 4 + 1 + name.length + 1 : 0;
  const parseLength = 4 + name.length + 1 + sqlLength + 1 + 2;
  const bindLength = 4 + 1 + name.length + 1 + 2 + 2 + valuesLength + 2;
  const out = allocate(
    (closeLength > 0 ? 1 + closeLength : 0) +
      (parse ? 1 + parseLength : 0) +
      (1 + bindLength) +
      TAIL.length,
  );

  let at = 0;
  if (closeLength > 0) {
    out[at] = 0x43; // C
    at = out.writeInt32BE(closeLength, at + 1);
    at += out.write('S', at); // a statement, not a portal
    at += out.write(name, at) + 1;
  }
  if (parse) {
    out[at] = 0x50; // P
    at = out.writeInt32BE(parseLength, at + 1);
    at += out.write(name, at) + 1;
    at += out.write(sql, at);
    at += 1 + 2; // end of text; no types given: the server infers them
  }

  out[at] = 0x42; // B
  at = out.writeInt32BE(bindLength, at + 1);
  at += 1; // unnamed portal
  at += out.write(name, at) + 1 + 2; // the statement; all parameters as text
  at = out.writeUInt16BE(texts.length, at);
  for (const [i, text] of texts.entries()) {
    at = out.writeInt32BE(lengths[i]!, at);
    if (text !== null) at += out.write(text, at);
  }
  at += 2; // all results as text
  out.set(TAIL, at);
  return out;
}

/** Describe (portal), Execute (all rows), Sync. */
const TAIL = Uint8Array.from([
  ...[0x44, 0, 0, 0, 6, 0x50, 0],
  ...[0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0],
  ...[0x53, 0, 0, 0, 4],
]);

/** Zeroed, and alone on its ArrayBuffer, so that it can be transferred to another thread. */
function allocate(bytes: number): Buffer<ArrayBuffer> {
  return Buffer.from(new ArrayBuffer(bytes));
}

export interface Result<R extends Row = Row> {
  rows: R[];
  rowCount: number;
  /** The command tag's first words, e.g. `UPDATE` or `ROLLBACK`. */
  command: string;
}

/** An error after which the session is gone. */
export class FatalDatabaseError extends DatabaseError {}

/** What NOTIFY sends to those who LISTEN. */
export interface Notification {
  channel: string;
  payload: string;
}

/**
 * Reads the answer to one message.
 * @returns the result of the last statement in it.
 * @throws DatabaseError the first error in it.
 */
export function readResponse<R extends Row>(
  response: Uint8Array,
  onNotification?: (notification: Notification) => void,
): Result<R> {
  const bytes = Buffer.from(response.buffer, response.byteOffset, response.byteLength);
  let columns: { name: string; decode: Decode }[] = [];
  let rows: R[] = [];
  let result: Result<R> = { rows, rowCount: 0, command: '' };
  let error: DatabaseError | undefined;

  for (let at = 0; at + 5 <= bytes.length; ) {
    const type = bytes[at];
    const end = at + 1 + bytes.readInt32BE(at + 1);
    const body = at + 5;
    if (type === 0x44) {
      rows.push(readRow(bytes, body, columns) as R);
    } else if (type === 0x54) {
      columns = readColumns(bytes, body);
      rows = [];
    } else if (type === 0x43) {
      const tag = bytes.toString('utf8', body, end - 1);
      const count = /^(.*?)(?: (?:\d+ )?(\d+))?$/.exec(tag)!;
      result = { rows, rowCount: Number(count[2] ?? 0), command: count[1]! };
      rows = [];
    } else if (type === 0x45) {
      error ??= readError(bytes, body, end);
    } else if (type === 0x41) {
      onNotification?.(readNotification(bytes, body));
    }
    at = end;
  }
  if (error) throw error;
  return result;
}

/** The transaction status that ends a complete answer, or undefined when the answer is cut off. */
export function statusOf(response: Uint8Array): 'I' | 'T' | 'E' | undefined {
  const z = response.length - 6;
  if (z < 0 || response[z] !== 0x5a) return undefined;
  return String.fromCharCode(response[response.length - 1]!) as 'I' | 'T' | 'E';
}

function readColumns(bytes: Buffer, start: number) {
  const columns: { name: string; decode: Decode }[] = [];
  let at = start + 2;
  for (let n = bytes.readInt16BE(start); n > 0; n -= 1) {
    const nameEnd = bytes.indexOf(0, at);
    const name = bytes.toString('utf8', at, nameEnd);
    // After the name: table oid (4), column number (2), type oid (4), size, modifier, format.
    columns.push({ name, decode: decoderFor(bytes.readUInt32BE(nameEnd + 1 + 6)) });
    at = nameEnd + 1 + 18;
  }
  return columns;
}

function readRow(bytes: Buffer, start: number, columns: { name: string; decode: Decode }[]): Row {
  const row: Row = {};
  let at = start + 2;
  for (const { name, decode } of columns) {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) {
      row[name] = null;
    } else {
      row[name] = decode(bytes.toString('utf8', at, at + length));
      at += length;
    }
  }
  return row;
}

/** @param start where the body begins: the process id, then two texts. */
export function readNotification(bytes: Buffer, start: number): Notification {
  const channelEnd = bytes.indexOf(0, start + 4);
  const payloadEnd = bytes.indexOf(0, channelEnd + 1);
  return {
    channel: bytes.toString('utf8', start + 4, channelEnd),
    payload: bytes.toString('utf8', channelEnd + 1, payloadEnd),
  };
}

function readError(bytes: Buffer, start: number, end: number): DatabaseError {
  const fields: Record<string, string> = {};
  for (let at = start; at < end && bytes[at] !== 0; ) {
    const fieldEnd = bytes.indexOf(0, at + 1);
    fields[String.fromCharCode(bytes[at]!)] = bytes.toString('utf8', at + 1, fieldEnd);
    at = fieldEnd + 1;
  }
  const gone = fields.V === 'FATAL' || fields.V === 'PANIC';
  const Class = gone ? FatalDatabaseError : DatabaseError;
  return new Class(fields.M ?? 'unknown error', fields.C ?? 'XX000', {
    ...(fields.n !== undefined && { constraint: fields.n }),
    ...(fields.D !== undefined && { more: fields.D }),
    ...(fields.H !== undefined && { hint: fields.H }),
    ...(fields.P !== undefined && { position: Number(fields.P) }),
  });
}
