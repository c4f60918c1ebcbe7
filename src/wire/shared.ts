import type { PgliteDatabase } from '../db/pglite.js';
import type { AdvisoryWaits } from './advisory-waits.js';
import type { Hidden } from './functions-watch.js';
import type { Listeners } from './listeners.js';
import type { Tenancy } from './tenancy.js';
import type { TurnQueue } from './turn-queue.js';

/** Durations in ms; what a client sets for itself goes before those of statements and idling. */
export interface Limits {
  /** Clients at a time. */
  clients: number;
  /** How long a statement may run. */
  statementMs: number;
  /** How long a transaction may be idle while others wait for the session. */
  idleInTransactionMs: number;
  /** How long others wait before a person is told who holds the session. */
  warnAfterMs: number;
  /** How long a client waits before it is told why. */
  noticeAfterMs: number;
  /** How long a statement that is cancelled may still come to its own end. */
  cancelGraceMs: number;
  /** How long a connection may take to say who it is. */
  startupMs: number;
}

/** What the sessions of all clients share. */
export interface Shared {
  db: PgliteDatabase;
  limits: Limits;
  tenancy: Tenancy;
  turns: TurnQueue;
  listeners: Listeners;
  advisory: AdvisoryWaits;
  hidden: Hidden;
  /** The engine is about to end, and with it what clients have left there. */
  closing: boolean;
  /** Told to a person. */
  warn(message: string): void;
  /** A client's transaction that may have written is over. */
  onWrite(): void;
  /** What one client asks to be done to another. */
  signal(pid: number, what: 'cancel' | 'terminate'): void;
}
