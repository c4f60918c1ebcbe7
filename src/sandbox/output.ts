/**
 * Captures one output stream of a run: bytes in, the tail out as text, and the text as it arrives.
 */
import type { CapturedOutput } from './port.js';

const FIRST_CAPACITY_BYTES = 4096;

/**
 * Keeps the last `limitBytes` of a stream. Bytes are copied into one buffer that grows to at most
 * twice the limit and is compacted when full, so that each byte is moved a bounded number of times,
 * however small the chunks are and however long the stream is.
 */
export class OutputCapture {
  #buffer = Buffer.alloc(0);
  #used = 0;
  #totalBytes = 0;
  readonly #limitBytes: number;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #decoder = newDecoder();

  constructor(limitBytes: number, onText?: (text: string) => void) {
    this.#limitBytes = Math.max(0, Math.floor(limitBytes));
    this.#onText = onText;
  }

  push(chunk: Uint8Array): void {
    this.#totalBytes += chunk.length;
    this.#keep(chunk);
    if (this.#onText) this.#tell(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Ends the stream: the text callback gets what an unfinished character left. Call it once. */
  finish(): CapturedOutput {
    if (this.#onText) this.#tell(this.#decoder.decode());
    const truncated = this.#totalBytes > this.#limitBytes;
    let start = Math.max(0, this.#used - this.#limitBytes);
    if (truncated) start = afterPartialCharacter(this.#buffer, start, this.#used);
    const text = newDecoder().decode(this.#buffer.subarray(start, this.#used));
    this.#buffer = Buffer.alloc(0);
    return { text, totalBytes: this.#totalBytes, truncated };
  }

  #tell(text: string): void {
    if (text !== '') this.#onText?.(text);
  }

  #keep(chunk: Uint8Array): void {
    const tail =
      chunk.length > this.#limitBytes ? chunk.subarray(-this.#limitBytes || chunk.length) : chunk;
    if (this.#used + tail.length > this.#buffer.length) this.#makeRoom(tail.length);
    this.#buffer.set(tail, this.#used);
    this.#used += tail.length;
  }

  #makeRoom(bytes: number): void {
    const keep = Math.min(this.#used, this.#limitBytes);
    const kept = this.#buffer.subarray(this.#used - keep, this.#used);
    const wanted = keep + bytes;
    if (this.#used + bytes > 2 * this.#limitBytes && wanted <= this.#buffer.length) {
      this.#buffer.set(kept, 0); // typed arrays copy as if through a temporary
    } else {
      const capacity = Math.max(FIRST_CAPACITY_BYTES, 2 * wanted);
      const grown = Buffer.allocUnsafe(Math.min(capacity, Math.max(2 * this.#limitBytes, wanted)));
      grown.set(kept, 0);
      this.#buffer = grown;
    }
    this.#used = keep;
  }
}

function newDecoder(): TextDecoder {
  // A byte order mark is kept: what the handler wrote is what is shown.
  return new TextDecoder('utf-8', { ignoreBOM: true });
}

/** Skips the continuation bytes of a character that began before `start` (RFC 3629: at most 3). */
function afterPartialCharacter(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && at < start + 3 && (bytes[at]! & 0xc0) === 0x80) at += 1;
  return at;
}
