/** Statements of the port's own, between those of clients. */
import type { Row } from '../db/port.js';
import { readResponse, simpleQuery } from '../db/protocol.js';
import type { RawSession } from '../db/raw-session.js';
import { frame, Q } from './frames.js';

/** @returns the rows of the last statement. @throws DatabaseError */
export async function query<R extends Row>(raw: RawSession, sql: string): Promise<R[]> {
  return readResponse<R>(await raw.send(simpleQuery(sql))).rows;
}

/** The same in the middle of a client's pipeline, whose transaction a simple query would end. */
export async function queryInPipeline<R extends Row>(raw: RawSession, sql: string): Promise<R[]> {
  const none = Buffer.alloc(2);
  const bytes = Buffer.concat([
    frame(Q.Parse, OWN, sql, none),
    frame(Q.Bind, OWN, OWN, none, none, none),
    frame(Q.Describe, Buffer.from('P'), OWN),
    frame(Q.Execute, OWN, Buffer.alloc(4)),
    frame(Q.Close, Buffer.from('P'), OWN),
    frame(Q.Close, Buffer.from('S'), OWN),
    frame(Q.Flush),
  ]);
  return readResponse<R>(await raw.send(bytes, { open: true })).rows;
}

const OWN = 'jobq_own';

export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  // Right whatever standard_conforming_strings is.
  return quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

export function identifier(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
