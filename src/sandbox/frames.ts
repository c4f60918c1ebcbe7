/**
 * The frames between jobq-dev and what runs handlers for it: process/warden.pl and qemu/agent.pl
 * list their letters.
 */

const HEADER_BYTES = 5;
const LINE_FEED = 0x0a;

export function encodeFrame(letter: string, payload: Uint8Array | string = ''): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  frame.write(letter, 0, 'latin1');
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

/** Puts frames together from chunks that are cut anywhere. Line feeds between frames are skipped. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that `chunk` completes, in order. Their payloads are views, valid for this turn. */
  *read(chunk: Buffer): Generator<{ letter: string; payload: Buffer }> {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      while (bytes[0] === LINE_FEED) bytes = bytes.subarray(1);
      if (bytes.length < HEADER_BYTES) break;
      const end = HEADER_BYTES + bytes.readUInt32BE(1);
      if (bytes.length < end) break;
      yield { letter: String.fromCharCode(bytes[0]!), payload: bytes.subarray(HEADER_BYTES, end) };
      bytes = bytes.subarray(end);
    }
    // At most one frame, 64 KiB, waits here, so that putting it together stays cheap.
    this.#rest = bytes;
  }
}
