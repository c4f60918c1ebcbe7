/** What clients are told in the protocol's words. Codes and texts are Postgres' own where it has one. */
import type { Report } from './messages.js';

export const TOO_MANY_CLIENTS: Report = {
  severity: 'FATAL',
  sqlstate: '53300',
  message: 'sorry, too many clients already',
};

export const SHUTTING_DOWN: Report = {
  severity: 'FATAL',
  sqlstate: '57P01',
  message: 'terminating connection due to administrator command',
};

export const CANCELLED: Report = {
  severity: 'ERROR',
  sqlstate: '57014',
  message: 'canceling statement due to user request',
};

export const TIMED_OUT: Report = {
  severity: 'ERROR',
  sqlstate: '57014',
  message: 'canceling statement due to statement timeout',
};

export const LOCK_TIMED_OUT: Report = {
  severity: 'ERROR',
  sqlstate: '55P03',
  message: 'canceling statement due to lock timeout',
};

export const STATE_LOST: Report = {
  severity: 'FATAL',
  sqlstate: '57P02',
  message: 'terminating connection because of crash of another server process',
  detail:
    'A statement of another client had to be stopped, and this client had temporary objects or open cursors, which are gone.',
  hint: 'Connect again and repeat what was under way.',
};

/** Added to what a statement that was stopped is answered with. */
export const SETTINGS_LOST: Pick<Report, 'severity' | 'detail'> = {
  severity: 'FATAL',
  detail:
    'The engine was opened again for it, and settings of this client are lost with the old one.',
};

export const SEQUENCES_LOST: Report = {
  severity: 'ERROR',
  sqlstate: '40001',
  message: 'lastval and currval are not known: other clients had the session in between',
  detail: 'From now on, until jobq-dev is started again, it keeps them for each client.',
  hint: 'Repeat the insert, or use INSERT … RETURNING.',
};

export const TWO_COPIES: Report = {
  severity: 'ERROR',
  sqlstate: '0A000',
  message: 'more than one COPY FROM STDIN in one query string is not there',
  hint: 'Send one at a time.',
};

export const COPY_TOO_LARGE: Report = {
  severity: 'ERROR',
  sqlstate: '54000',
  message: 'the data of one COPY FROM STDIN may be 256 MB at most here',
  hint: 'Split it into several COPY commands.',
};

export function engineEnded(reason: string): Report {
  return {
    severity: 'FATAL',
    sqlstate: '57P02',
    message: `the statement ended the database engine: ${reason}`,
    hint: 'What was acknowledged is kept, and the engine is opened again. Connect again.',
  };
}

export function idleInTransaction(ms: number, waiting: number): Report {
  return {
    severity: 'FATAL',
    sqlstate: '25P03',
    message: 'terminating connection due to idle-in-transaction timeout',
    detail: `The transaction was idle for ${ms} ms${waiting > 0 ? ` while ${waiting} others waited for the one session that PGlite has` : ''}.`,
    hint: 'If the app waits for a second connection inside of a transaction, give it a server: jobq-dev --database-url.',
  };
}

export function waitingFor(who: string): Report {
  return {
    severity: 'NOTICE',
    sqlstate: '00000',
    message: `waiting for the end of the transaction of ${who}`,
    hint: 'PGlite has one session; its clients take turns, a transaction at a time.',
  };
}

/** @param key `b42:x` */
export function lockedInTransaction(key: string): Report {
  return {
    severity: 'ERROR',
    sqlstate: '40P01',
    message: `deadlock detected: advisory lock ${key.slice(1, -2)} is held by the session of another client`,
    detail:
      'It cannot let go of the lock before this transaction is over, because clients take turns on one session.',
    hint: 'Repeat the transaction, or take the lock as the first thing in it.',
  };
}

export const DEADLOCK: Report = {
  severity: 'ERROR',
  sqlstate: '40P01',
  message: 'deadlock detected',
  detail: 'Clients wait for advisory locks of each other.',
};
