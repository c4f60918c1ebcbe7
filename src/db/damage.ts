/** What a local database says when its files are not as it left them, or cannot grow. */
import { dirname } from 'node:path';
import { JobqError } from '../errors.js';
import { DatabaseError } from './port.js';

/**
 * SQLSTATEs of files that cannot be read or do not hold what they should.
 * Source: https://www.postgresql.org/docs/current/errcodes-appendix.html (classes 58 and XX)
 */
const DAMAGE = new Set(['58030', '58P01', 'XX001', 'XX002']);
const DISK_FULL = '53100';

/**
 * @param reason what the engine said.
 * @returns an error that says what to do.
 */
export function damaged(pgdata: string, reason: string, cause?: unknown): JobqError {
  const root = dirname(pgdata);
  if (/No space left on device/.test(reason)) return full(root, reason, cause);
  return new JobqError(
    'directory-unusable',
    `the database in ${root} is damaged: ${reason}`,
    `jobq-dev reset --data-dir ${root} sets a copy of it aside and starts afresh.`,
    { cause },
  );
}

function full(root: string, reason: string, cause: unknown): JobqError {
  return new JobqError(
    'directory-unusable',
    `the disk that holds ${root} is full: ${reason}`,
    'Free some space and try again; what was acknowledged is kept. jobq-dev prune deletes old jobs.',
    { cause },
  );
}

/** An error of the server, or what it means for the cluster at `pgdata`. */
export function explainDamage(error: unknown, pgdata: string): unknown {
  if (!(error instanceof DatabaseError)) return error;
  if (error.sqlstate === DISK_FULL) return full(dirname(pgdata), error.message, error);
  return DAMAGE.has(error.sqlstate) ? damaged(pgdata, error.message, error) : error;
}
