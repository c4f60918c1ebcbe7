import pg from 'pg';
import { JobqError } from '../errors.js';
import { DatabaseError } from './port.js';

/**
 * SQLSTATEs of a server that is going away, whatever severity they come with.
 * Source: https://www.postgresql.org/docs/current/errcodes-appendix.html (class 57)
 */
const SERVER_LEAVES = /^57P0[1235]$/;
/** Wrong user or password, no such database, no right to connect. */
const TURNED_AWAY = /^(28...|3D000|42501)$/;

/** Turns what `pg` throws into the port's errors. A JobqError means that the connection is gone. */
export function translate(error: unknown, location: string): Error {
  // pg-pool hangs the client on some of its errors, and the client holds the password, which a
  // trace with causes would print.
  if (error instanceof Error && 'client' in error) error.client = undefined;
  if (error instanceof pg.DatabaseError && error.code !== undefined) {
    const fatal = error.severity === 'FATAL' || error.severity === 'PANIC';
    if (fatal && TURNED_AWAY.test(error.code)) {
      return new JobqError(
        'database-refused',
        `${location} refused the connection: ${error.message} (SQLSTATE ${error.code})`,
        'Check the user, password and database name of the URL.',
        { cause: error },
      );
    }
    if (!fatal && !SERVER_LEAVES.test(error.code)) return databaseError(error, error.code);
  }
  return new JobqError(
    'database-unreachable',
    `no answer from the database at ${location}: ${reasonOf(error)}`,
    'Check that the server runs and that the URL names the right host and port.',
    { cause: error },
  );
}

function databaseError(error: pg.DatabaseError, sqlstate: string): DatabaseError {
  const { constraint, detail: more, hint, position } = error;
  return new DatabaseError(
    error.message,
    sqlstate,
    {
      ...(constraint !== undefined && { constraint }),
      ...(more !== undefined && { more }),
      ...(hint !== undefined && { hint }),
      ...(position !== undefined && { position: Number(position) }),
    },
    { cause: error },
  );
}

function reasonOf(error: unknown): string {
  // A host with several addresses fails with one error for each, and an empty message.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
