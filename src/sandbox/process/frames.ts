/** The frames between jobq-dev and a monitor; warden.pl lists their letters. */

export function encodeFrame(letter: string, payload: Uint8Array | string = ''): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const frame = Buffer.allocUnsafe(5 + bytes.length);
  frame.write(letter, 0, 'latin1');
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, 5);
  return frame;
}

/** Puts frames together from chunks that are cut anywhere. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that `chunk` completes, in order. Their payloads are views, valid for this turn. */
  *read(chunk: Buffer): Generator<{ letter: string; payload: Buffer }> {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (bytes.length >= 5) {
      const end = 5 + bytes.readUInt32BE(1);
      if (bytes.length < end) break;
      yield { letter: String.fromCharCode(bytes[0]!), payload: bytes.subarray(5, end) };
      bytes = bytes.subarray(end);
    }
    // At most one frame, 64 KiB, waits here, so that putting it together stays cheap.
    this.#rest = bytes;
  }
}
