import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { JobqError, systemReason } from '../errors.js';

/** Where things are in a data directory (`.jobq`). */
export interface DataDir {
  root: string;
  /** The Postgres cluster. */
  pgdata: string;
}

/**
 * Makes the data directory, with a `.gitignore` that hides all of it.
 *
 * @throws JobqError `directory-unusable` when it cannot be written, with path and errno.
 */
export function prepareDataDir(root: string): DataDir {
  try {
    makeDirectory(root);
    const ignore = join(root, '.gitignore');
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  } catch (error) {
    throw unusable(root, error);
  }
  return { root, pgdata: join(root, 'pgdata') };
}

/**
 * `mkdir -p`. Not node's own `recursive`, which never returns where the parent exists and the system
 * still says ENOENT, as in /proc (seen with node 20).
 */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    makeDirectory(dirname(path));
    // Once more from the top: another process may be making the same directory.
    makeDirectory(path);
  }
}

/**
 * Looks at an existing cluster before the engine does, which would only say `Aborted()`.
 *
 * @throws JobqError `directory-unusable` when it is of another major than `needed`, has lost its
 *   PG_VERSION, or cannot be written.
 */
export function checkCluster({ root, pgdata }: DataDir, needed: number): void {
  let text: string;
  try {
    accessSync(pgdata, constants.R_OK | constants.W_OK | constants.X_OK);
    text = readFileSync(join(pgdata, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unusable(pgdata, error);
    throw damaged(root, `${pgdata} has no PG_VERSION file`);
  }
  if (text === String(needed)) return;
  throw new JobqError(
    'directory-unusable',
    `${pgdata} was made by Postgres ${text}, and this jobq-dev brings Postgres ${needed}`,
    `Use the jobq-dev that made it (jobq-dev record saves its jobs), or start afresh: jobq-dev reset --data-dir ${root} (a copy is set aside)`,
  );
}

/** An error of the file system on `path`, for a person. */
export function unusable(path: string, error: unknown): JobqError {
  const at = (error as NodeJS.ErrnoException).path ?? path;
  return new JobqError(
    'directory-unusable',
    `the data directory ${path} cannot be used: ${systemReason(error)}${at === path ? '' : ` at ${at}`}`,
    'Choose one that can be written: --data-dir, or --memory to keep nothing.',
    { cause: error },
  );
}

/** A cluster that the engine could not open. `reason` is what it said. */
export function damaged(root: string, reason: string, cause?: unknown): JobqError {
  return new JobqError(
    'directory-unusable',
    `the database in ${root} is damaged: ${reason}`,
    `jobq-dev reset --data-dir ${root} sets a copy of it aside and starts afresh.`,
    { cause },
  );
}
