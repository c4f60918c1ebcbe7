import type { RawSession } from '../db/raw-session.js';
import { query } from './own-statements.js';

/** What a client has set for itself, in ms; 0 is none. The engine keeps to none of them. */
export interface Timeouts {
  statement: number;
  lock: number;
  idleInTransaction: number;
}

export const NO_TIMEOUTS: Timeouts = { statement: 0, lock: 0, idleInTransaction: 0 };

/**
 * These make the engine hang when their time comes (PGlite 0.5.17). So it does not keep what a client
 * sets, but a time that never comes, by which it is also seen that the client has not set another.
 */
const DEADLY = [
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
  'transaction_timeout',
];
const NEVER_MS = 2 ** 31 - 1;

/**
 * Reads what the client has set by now, and disarms it. To be called before the engine waits for
 * anything again.
 * @param known what it was before.
 */
export async function readTimeouts(raw: RawSession, known: Timeouts): Promise<Timeouts> {
  const rows = await query<{ name: string; setting: string }>(
    raw,
    `select name, setting from pg_catalog.pg_settings where name ~ '_timeout$'`,
  );
  const set = new Map(rows.map(({ name, setting }) => [name, Number(setting)]));
  const armed = DEADLY.filter((name) => ![0, NEVER_MS].includes(set.get(name)!));
  if (armed.length > 0) {
    await query(raw, armed.map((name) => `set ${name} to ${NEVER_MS}`).join('; '));
  }
  const idle = set.get('idle_in_transaction_session_timeout')!;
  return {
    statement: set.get('statement_timeout')!,
    lock: set.get('lock_timeout')!,
    idleInTransaction: idle === NEVER_MS ? known.idleInTransaction : idle,
  };
}
