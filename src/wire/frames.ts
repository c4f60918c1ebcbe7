/**
 * Cuts a client's bytes into messages of the Postgres protocol, version 3.
 * Source: https://www.postgresql.org/docs/current/protocol-message-formats.html
 *
 * The libraries that speak the server's side were looked at and left: pg-gateway waits for the rest
 * of a message of any length that its header claims, and hands on one message at a time, so that a
 * pipeline would reach the engine in pieces; pg-protocol reads a server's messages only.
 */

/** One message of a client, after the startup. */
export interface Frame {
  type: number;
  /** With its header. */
  bytes: Buffer;
}

export const Q = {
  Bind: 0x42,
  Close: 0x43,
  CopyData: 0x64,
  CopyDone: 0x63,
  CopyFail: 0x66,
  Describe: 0x44,
  Execute: 0x45,
  Flush: 0x48,
  FunctionCall: 0x46,
  Parse: 0x50,
  Query: 0x51,
  Sync: 0x53,
  Terminate: 0x58,
} as const;

/** What ends a connection with FATAL 08P01. */
export class ProtocolViolation extends Error {}

/**
 * The largest message that is taken. Postgres takes 1 GiB; the engine here has 2 GiB of memory for
 * everything, and a message is in it two or three times.
 */
const LARGE_BYTES = 256 * 1024 * 1024;
/** Postgres' own limit for messages without data of any size (PQ_SMALL_MESSAGE_LIMIT). */
const SMALL_BYTES = 10_000;

const LIMITS = new Map<number, number>([
  [Q.Bind, LARGE_BYTES],
  [Q.Close, SMALL_BYTES],
  [Q.CopyData, LARGE_BYTES],
  [Q.CopyDone, SMALL_BYTES],
  [Q.CopyFail, SMALL_BYTES],
  [Q.Describe, SMALL_BYTES],
  [Q.Execute, SMALL_BYTES],
  [Q.Flush, SMALL_BYTES],
  [Q.FunctionCall, LARGE_BYTES],
  [Q.Parse, LARGE_BYTES],
  [Q.Query, LARGE_BYTES],
  [Q.Sync, SMALL_BYTES],
  [Q.Terminate, SMALL_BYTES],
]);

const HEADER_BYTES = 5;

export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes that are needed before there is any use in looking. */
  #need = HEADER_BYTES;

  /**
   * @returns the messages that are whole now.
   * @throws ProtocolViolation before it has stored what belongs to no message.
   */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#need) return [];
    const buffer = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#bytes);
    const frames: Frame[] = [];
    let at = 0;
    this.#need = HEADER_BYTES;
    while (buffer.length - at >= HEADER_BYTES) {
      const type = buffer[at]!;
      const end = at + 1 + lengthOf(type, buffer.readInt32BE(at + 1));
      if (end > buffer.length) {
        this.#need = end - at;
        break;
      }
      frames.push({ type, bytes: buffer.subarray(at, end) });
      at = end;
    }
    const rest = buffer.subarray(at);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return frames;
  }
}

function lengthOf(type: number, length: number): number {
  const limit = LIMITS.get(type);
  if (limit === undefined) throw new ProtocolViolation(`invalid frontend message type ${type}`);
  if (length < 4) throw new ProtocolViolation('invalid message length');
  if (length > limit) {
    throw new ProtocolViolation(
      `invalid message length: ${length} bytes, and ${limit} are the most that is taken here`,
    );
  }
  return length;
}

/** A text that ends with NUL, in whatever encoding: one character a byte. */
export function readText(bytes: Buffer, at: number): { text: string; end: number } | undefined {
  const end = bytes.indexOf(0, at);
  return end < 0 ? undefined : { text: bytes.toString('latin1', at, end), end: end + 1 };
}

/** A message of a client, from its type and its body. */
export function frame(type: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const bodies = parts.map((part) =>
    typeof part === 'string' ? Buffer.from(`${part}\0`, 'latin1') : part,
  );
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = type;
  const bytes = Buffer.concat([header, ...bodies]);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}
