/** Speaks the protocol message by message, as no driver lets one. */
import type { Socket } from 'node:net';
import pg from 'pg';
import { frame, Q } from '#src/wire/frames.js';

/** One message of the server: its letter, and what stands in it in short. */
export type Heard = string;

export class RawClient {
  #buffer = Buffer.alloc(0);
  #heard: Heard[] = [];
  #wake: () => void = () => {};
  #closed = false;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
      while (this.#buffer.length >= 5) {
        const end = 1 + this.#buffer.readInt32BE(1);
        if (this.#buffer.length < end) break;
        this.#heard.push(inShort(this.#buffer.subarray(0, end)));
        this.#buffer = this.#buffer.subarray(end);
      }
      this.#wake();
    });
    socket.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
  }

  /** The driver does the startup, with a password where one is asked for. */
  static async connect(url: string): Promise<RawClient> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    stream.removeAllListeners('data');
    return new RawClient(stream);
  }

  send(...messages: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(messages));
  }

  /** What is heard up to `last`, which must begin a message; or the end. */
  async until(last: string): Promise<Heard[]> {
    for (;;) {
      const at = this.#heard.findIndex((heard) => heard.startsWith(last));
      if (at >= 0) return this.#heard.splice(0, at + 1);
      if (this.#closed) return [...this.#heard.splice(0), 'closed'];
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Sends, and hears up to the next ReadyForQuery. */
  ask(...messages: readonly Buffer[]): Promise<Heard[]> {
    this.send(...messages);
    return this.until('Z');
  }

  end(): void {
    this.socket.destroy();
  }
}

function inShort(message: Buffer): Heard {
  const letter = String.fromCharCode(message[0]!);
  const body = message.subarray(5);
  switch (letter) {
    case 'Z':
      return `Z ${body.toString()}`;
    case 'C':
      return `C ${body.toString('utf8', 0, body.length - 1)}`;
    case 'E':
      return `E ${/\0C(.{5})\0/.exec(body.toString('latin1'))?.[1]}`;
    case 'D':
      return `D ${body.toString('utf8', 6)}`;
    case 'G':
      return `G ${body[0]} ${body.readInt16BE(1)}`;
    case 'd':
      return `d ${body.toString()}`;
    default:
      return letter;
  }
}

export const query = (sql: string) => frame(Q.Query, sql);
export const parse = (name: string, sql: string) => frame(Q.Parse, name, sql, Buffer.alloc(2));
export const bind = (portal: string, statement: string, ...values: string[]) =>
  frame(
    Q.Bind,
    portal,
    statement,
    int16(0),
    int16(values.length),
    ...values.flatMap((value) => [int32(value.length), Buffer.from(value)]),
    int16(0),
  );
export const describe = (kind: 'S' | 'P', name: string) =>
  frame(Q.Describe, Buffer.from(kind), name);
export const close = (kind: 'S' | 'P', name: string) => frame(Q.Close, Buffer.from(kind), name);
export const execute = (portal: string, rows = 0) => frame(Q.Execute, portal, int32(rows));
export const copyData = (text: string) => frame(Q.CopyData, Buffer.from(text));
export const copyDone = frame(Q.CopyDone);
export const copyFail = frame(Q.CopyFail, 'no more');
export const flush = frame(Q.Flush);
export const sync = frame(Q.Sync);

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
