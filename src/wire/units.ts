import type { Connection } from './connection.js';
import { type Frame, frame, Q } from './frames.js';

/** Messages of a client that the engine gets in one call. */
export interface Unit {
  kind: 'query' | 'function' | 'extended';
  frames: readonly Frame[];
  /** No Sync is in it: the client wants what there is so far, and goes on. */
  open: boolean;
}

/** What a pipeline may hold before the engine gets the first of it. */
const OPEN_ABOVE_BYTES = 1024 * 1024;

export const FLUSH: Frame = { type: Q.Flush, bytes: frame(Q.Flush) };
export const SYNC: Frame = { type: Q.Sync, bytes: frame(Q.Sync) };

/** Puts a client's messages together in units. */
export class Units {
  /** After an error of ours in the middle of a pipeline: the rest of it is passed over. */
  skipToSync = false;

  constructor(private readonly connection: Connection) {}

  /**
   * @returns undefined when the client is gone; what it had begun to send is dropped.
   * @throws Terminated
   */
  async next(): Promise<Unit | undefined> {
    const frames: Frame[] = [];
    let bytes = 0;
    for (;;) {
      const frame = await this.connection.next();
      if (frame === undefined) return undefined;
      if (this.skipToSync && frame.type !== Q.Sync) continue;
      this.skipToSync = false;
      switch (frame.type) {
        case Q.CopyData:
        case Q.CopyDone:
        case Q.CopyFail:
          // Of a COPY that has failed already.
          continue;
        case Q.Query:
        case Q.FunctionCall:
          // Postgres takes one in the middle of a pipeline, too; the engine gets the rest first.
          if (frames.length > 0) {
            this.connection.unread(frame);
            return { kind: 'extended', frames, open: true };
          }
          return {
            kind: frame.type === Q.Query ? 'query' : 'function',
            frames: [frame],
            open: false,
          };
      }
      frames.push(frame);
      bytes += frame.bytes.length;
      if (frame.type === Q.Sync) return { kind: 'extended', frames, open: false };
      if (frame.type === Q.Flush) return { kind: 'extended', frames, open: true };
      if (bytes > OPEN_ABOVE_BYTES) {
        return { kind: 'extended', frames: [...frames, FLUSH], open: true };
      }
    }
  }
}

/** Parse, Describe and Close of statements, and then a Flush. */
export function onlyPrepares({ open, frames }: Unit): boolean {
  return (
    open &&
    frames.every(
      ({ type, bytes }) =>
        type === Q.Parse ||
        type === Q.Flush ||
        ((type === Q.Describe || type === Q.Close) && bytes[5] === STATEMENT),
    )
  );
}

const STATEMENT = 'S'.charCodeAt(0);
