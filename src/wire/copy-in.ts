import type { RawSession } from '../db/raw-session.js';
import type { Connection } from './connection.js';
import { frame, Q } from './frames.js';
import { literal, query, queryInPipeline } from './own-statements.js';
import type { CopyIn } from './statement.js';

/** The data of a COPY FROM STDIN, which the engine must get in one piece with its statement. */
export interface CopyData {
  /** CopyData messages and what ends them. */
  bytes: Buffer[];
  tooLarge: boolean;
  /** Whether the client was asked for it. */
  began: boolean;
}

/** The engine holds it twice, and has 2 GiB. */
const LIMIT_BYTES = 256 * 1024 * 1024;

/** How many columns the client will send; undefined when there is nothing to copy into. */
export async function columnsOf(
  raw: RawSession,
  copy: Omit<CopyIn, 'binary'>,
  inPipeline: boolean,
): Promise<number | undefined> {
  if (copy.columns !== undefined) return copy.columns;
  const table = Buffer.from(copy.table, 'latin1').toString();
  const ask = inPipeline ? queryInPipeline : query;
  const [row] = await ask<{ columns: number }>(
    raw,
    `select pg_catalog.count(*)::int as columns from pg_catalog.pg_attribute
      where attrelid = pg_catalog.to_regclass(${literal(table)})
        and attnum > 0 and not attisdropped and attgenerated = ''`,
  );
  return row!.columns === 0 ? undefined : row!.columns;
}

/** @returns undefined when the client is gone. @throws Terminated */
export async function collect(connection: Connection): Promise<CopyData | undefined> {
  let bytes: Buffer[] = [];
  let size = 0;
  for (;;) {
    const message = await connection.next();
    if (message === undefined) return undefined;
    switch (message.type) {
      case Q.CopyData:
        size += message.bytes.length;
        if (size <= LIMIT_BYTES) bytes.push(message.bytes);
        else bytes = [];
        break;
      case Q.CopyDone:
        if (size > LIMIT_BYTES)
          return { bytes: [copyFail('too large')], tooLarge: true, began: true };
        bytes.push(message.bytes);
        return { bytes, tooLarge: false, began: true };
      case Q.CopyFail:
        return { bytes: [message.bytes], tooLarge: false, began: true };
      case Q.Flush:
      case Q.Sync:
        // Passed over, as the protocol has it.
        break;
      default:
        connection.unread(message);
        return {
          bytes: [copyFail(`unexpected message type ${message.type} during COPY from stdin`)],
          tooLarge: false,
          began: true,
        };
    }
  }
}

export function copyFail(reason: string): Buffer {
  return frame(Q.CopyFail, reason);
}
