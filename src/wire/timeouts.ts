import type { RawSession } from '../db/raw-session.js';
import { query } from './own-statements.js';

/** What a client has set for itself, in ms; 0 is none. The engine keeps to none of them. */
export interface Timeouts {
  statement: number;
  idleInTransaction: number;
  lock: number;
}

export const NO_TIMEOUTS: Timeouts = { statement: 0, idleInTransaction: 0, lock: 0 };

export async function readTimeouts(raw: RawSession): Promise<Timeouts> {
  const rows = await query<{ name: string; setting: string }>(
    raw,
    `select name, setting from pg_catalog.pg_settings
      where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout')`,
  );
  const of = (name: string) => Number(rows.find((row) => row.name === name)?.setting ?? 0);
  return {
    statement: of('statement_timeout'),
    idleInTransaction: of('idle_in_transaction_session_timeout'),
    lock: of('lock_timeout'),
  };
}
