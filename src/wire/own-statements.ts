/** Statements of the port's own, between those of clients. */
import type { Row } from '../db/port.js';
import { readResponse, simpleQuery } from '../db/protocol.js';
import type { RawSession } from '../db/raw-session.js';

/** @returns the rows of the last statement. @throws DatabaseError */
export async function query<R extends Row>(raw: RawSession, sql: string): Promise<R[]> {
  return readResponse<R>(await raw.send(simpleQuery(sql))).rows;
}

export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  // Right whatever standard_conforming_strings is.
  return quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

export function identifier(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
