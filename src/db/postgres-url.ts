import { JobqError } from '../errors.js';

/**
 * @returns `host:port/database`: enough to know which server is meant, and nothing secret.
 * @throws JobqError `config` for anything that is not a Postgres URL; it does not repeat the text,
 *   which may hold a password.
 */
export function locationOf(databaseUrl: string): string {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new JobqError(
      'config',
      'the database URL is not a Postgres URL',
      'It looks like postgres://user:password@host:5432/database; special characters in the password are percent-encoded.',
    );
  }
  // A socket's directory is given as `?host=/run/postgresql`.
  const host = url.searchParams.get('host') ?? (url.hostname || 'localhost');
  return `${host}:${url.port || '5432'}${url.pathname}`;
}
