/** The server's messages that are written here; most of what a client gets is the engine's own. */

export interface Report {
  severity: 'ERROR' | 'FATAL' | 'WARNING' | 'NOTICE';
  sqlstate: string;
  message: string;
  detail?: string | undefined;
  hint?: string | undefined;
}

export type Status = 'I' | 'T' | 'E';

export function errorResponse(report: Report): Buffer {
  return message('E', fields(report));
}

export function noticeResponse(report: Report): Buffer {
  return message('N', fields(report));
}

export function readyForQuery(status: Status): Buffer {
  return message('Z', Buffer.from(status));
}

export function authenticationOk(): Buffer {
  return message('R', Buffer.alloc(4));
}

export function parameterStatus(name: string, value: string): Buffer {
  return message('S', text(name), text(value));
}

export function backendKeyData(pid: number, secret: number): Buffer {
  return message('K', int32(pid), int32(secret));
}

/** Says that 3.0 is spoken, and which extensions are not. */
export function negotiateProtocolVersion(unknownOptions: readonly string[]): Buffer {
  return message('v', int32(0), int32(unknownOptions.length), ...unknownOptions.map(text));
}

export function parseComplete(): Buffer {
  return message('1');
}

/** @param binary the format of the data, and of each of its columns. */
export function copyInResponse(binary: boolean, columns: number): Buffer {
  const body = Buffer.alloc(3 + 2 * columns);
  body[0] = binary ? 1 : 0;
  body.writeInt16BE(columns, 1);
  for (let i = 0; i < columns; i += 1) body.writeInt16BE(binary ? 1 : 0, 3 + 2 * i);
  return message('G', body);
}

export function notificationResponse(pid: number, channel: string, payload: string): Buffer {
  return message('A', int32(pid), text(channel), text(payload));
}

/** The fields of an ErrorResponse or NoticeResponse, by their letters; one character a byte. */
export function readFields(body: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < body.length && body[at] !== 0; ) {
    const end = body.indexOf(0, at + 1);
    found.set(String.fromCharCode(body[at]!), body.toString('latin1', at + 1, end));
    at = end + 1;
  }
  return found;
}

/** The other way round. */
export function writeFields(type: 'E' | 'N', found: ReadonlyMap<string, string>): Buffer {
  const parts = [...found].map(([letter, value]) => Buffer.from(`${letter}${value}\0`, 'latin1'));
  return message(type, ...parts, Buffer.alloc(1));
}

function fields({ severity, sqlstate, message, detail, hint }: Report): Buffer {
  const parts = [`S${severity}`, `V${severity}`, `C${sqlstate}`, `M${message}`];
  if (detail !== undefined) parts.push(`D${detail}`);
  if (hint !== undefined) parts.push(`H${hint}`);
  return Buffer.from(`${parts.join('\0')}\0\0`);
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value | 0);
  return bytes;
}

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(5);
  header.write(type, 0, 'latin1');
  const bytes = Buffer.concat([header, ...parts]);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}
