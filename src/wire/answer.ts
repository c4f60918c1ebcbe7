import { ENGINE_NAME } from './client-names.js';
import { readFields, type Status, writeFields } from './messages.js';

/**
 * Reads what the engine answers to one unit of a client's messages, on its way to the client: what
 * belongs to the client passes in one piece, as it is, and the rest is kept or changed.
 */

/** What one message of the client is answered by. */
export interface Step {
  /** The answer's last message. */
  ends: 'parse' | 'bind' | 'close' | 'describe' | 'execute' | 'statement';
  /** Sent by us and not by the client, who does not get its answer. */
  ours?: boolean;
  /** What the client is to read as the command that was done. */
  tag?: string | undefined;
  /** What it counts as here, where the command that was done says too little. */
  countsAs?: string | undefined;
  /** Called with the command that was done, where it is one that says. */
  done?: ((tag: string) => void) | undefined;
  /** Called when it was not done, the last one first. */
  undo?: (() => void) | undefined;
  /** Takes it back after it was done, when all of it is to be repeated. */
  retract?: (() => void) | undefined;
  /** What the client is to read instead of the error that this makes. */
  refusal?: Buffer | undefined;
}

export interface Listeners {
  /** @returns whether the client gets it. */
  notice(fields: Map<string, string>): boolean;
  /** @returns what the client gets of it. */
  notification(body: Buffer): Buffer | undefined;
  /** @returns whether the client gets it. */
  parameter(name: string, value: string): boolean;
  /** How the client calls what the engine calls `engineName`. */
  nameOf(engineName: string): string;
  /** @returns what the client reads instead of an error of the port's own functions. */
  error?(sqlstate: string, message: string): Buffer | undefined;
}

export class Answer {
  /** What is for the client, in order. */
  #out: Buffer[] = [];
  #outBytes = 0;
  #rest: Buffer | undefined;
  #at = 0;
  status: Status | undefined;
  /** The SQLSTATE of the first error. */
  sqlstate: string | undefined;
  /** The fields of the first error. */
  error: Map<string, string> | undefined;
  readonly tags: string[] = [];

  /**
   * @param steps for each message of the client in order; for a simple query for each statement, or
   *   none where there is nothing to do for any.
   * @param client what the client has had already, or is not to get.
   */
  constructor(
    private readonly steps: readonly Step[],
    private readonly listeners: Listeners,
    private readonly client: { hadCopyIn?: boolean; noReady?: boolean } = {},
  ) {}

  get outBytes(): number {
    return this.#outBytes;
  }

  /** Takes what is for the client so far. */
  take(): Buffer[] {
    const out = this.#out;
    this.#out = [];
    this.#outBytes = 0;
    return out;
  }

  push(part: Uint8Array): void {
    let bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    if (this.#rest !== undefined) bytes = Buffer.concat([this.#rest, bytes]);
    let from = 0;
    let at = 0;
    while (at + 5 <= bytes.length) {
      const end = at + 1 + bytes.readInt32BE(at + 1);
      if (end > bytes.length) break;
      const instead = this.#look(bytes[at]!, bytes.subarray(at, end));
      if (instead !== PASS) {
        if (at > from) this.#emit(bytes.subarray(from, at));
        if (instead !== undefined) this.#emit(instead);
        from = end;
      }
      at = end;
    }
    if (at > from) this.#emit(bytes.subarray(from, at));
    this.#rest = at < bytes.length ? bytes.subarray(at) : undefined;
  }

  /** Called when the answer is over. */
  end(): void {
    for (let i = this.steps.length - 1; i >= this.#at; i -= 1) this.steps[i]!.undo?.();
  }

  #emit(bytes: Buffer): void {
    this.#out.push(bytes);
    this.#outBytes += bytes.length;
  }

  /** @returns what the client gets instead of this message: it, another one, or nothing. */
  #look(type: number, message: Buffer): Buffer | undefined | typeof PASS {
    switch (type) {
      case 0x44: // DataRow
      case 0x64: // CopyData
        return PASS;
      case 0x5a: // ReadyForQuery
        this.status = String.fromCharCode(message[5]!) as Status;
        return this.client.noReady ? undefined : PASS;
      case 0x43: // CommandComplete
        return this.#command(message);
      case 0x49: // EmptyQueryResponse
      case 0x73: // PortalSuspended
        return this.#step('execute', 'statement');
      case 0x31:
        return this.#step('parse');
      case 0x32:
        return this.#step('bind');
      case 0x33:
        return this.#step('close');
      case 0x54: // RowDescription
      case 0x6e: // NoData
        return this.steps[this.#at]?.ends === 'describe' ? this.#step('describe') : PASS;
      case 0x45:
        return this.#failed(message);
      case 0x4e:
        return this.listeners.notice(readFields(message.subarray(5))) ? PASS : undefined;
      case 0x41:
        return this.listeners.notification(message.subarray(5));
      case 0x53: {
        const nameEnd = message.indexOf(0, 5);
        const passes = this.listeners.parameter(
          message.toString('utf8', 5, nameEnd),
          message.toString('utf8', nameEnd + 1, message.length - 1),
        );
        return passes ? PASS : undefined;
      }
      case 0x47: // CopyInResponse
        return this.client.hadCopyIn ? undefined : PASS;
      default:
        return PASS;
    }
  }

  #step(...ends: Step['ends'][]): undefined | typeof PASS {
    const step = this.steps[this.#at];
    if (step === undefined || !ends.includes(step.ends)) return PASS;
    this.#at += 1;
    step.done?.('');
    return step.ours ? undefined : PASS;
  }

  #command(message: Buffer): Buffer | undefined | typeof PASS {
    const tag = message.toString('latin1', 5, message.length - 1);
    const step = this.steps[this.#at];
    this.tags.push(step?.countsAs ?? step?.tag ?? tag);
    if (step === undefined || (step.ends !== 'execute' && step.ends !== 'statement')) return PASS;
    this.#at += 1;
    step.done?.(tag);
    if (step.tag === undefined) return PASS;
    const bytes = Buffer.from(`C\0\0\0\0${step.tag}\0`, 'latin1');
    bytes.writeInt32BE(bytes.length - 1, 1);
    return bytes;
  }

  #failed(message: Buffer): Buffer | typeof PASS {
    const first = this.error === undefined;
    const fields = readFields(message.subarray(5));
    this.error ??= fields;
    this.sqlstate ??= fields.get('C');
    const refusal = this.steps[this.#at]?.refusal;
    if (first && refusal !== undefined) return refusal;
    const text = fields.get('M') ?? '';
    const instead = this.listeners.error?.(fields.get('C') ?? '', text);
    if (instead !== undefined) return instead;
    if (!/jobq_c\d/.test(text)) return PASS;
    fields.set(
      'M',
      text.replace(ENGINE_NAME, (name) => this.listeners.nameOf(name)),
    );
    return writeFields('E', fields);
  }
}

const PASS = Symbol('as it is');
