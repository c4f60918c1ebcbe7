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
import { damaged } from './damage.js';

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
 * @throws JobqError `directory-unusable` when it is of another major than `needed`, lacks a part, or
 *   cannot be written.
 */
export function checkCluster({ root, pgdata }: DataDir, needed: number): void {
  const version = readVersion(pgdata);
  if (version === String(needed)) return;
  throw new JobqError(
    'directory-unusable',
    `${pgdata} was made by Postgres ${version}, and this jobq-dev brings Postgres ${needed}`,
    `Use the jobq-dev that made it (jobq-dev record saves its jobs), or start afresh: jobq-dev reset --data-dir ${root} (a copy is set aside)`,
  );
}

/** Without one of these the engine ends without a reason that helps. */
const PARTS = ['PG_VERSION', 'postgresql.conf', 'global/pg_control', 'base', 'pg_wal', 'pg_xact'];

function readVersion(pgdata: string): string {
  try {
    if (!statSync(pgdata).isDirectory()) throw damaged(pgdata, `${pgdata} is no directory`);
    accessSync(pgdata, constants.R_OK | constants.W_OK | constants.X_OK);
    const missing = PARTS.find((part) => !existsSync(join(pgdata, part)));
    if (missing !== undefined) throw damaged(pgdata, `${pgdata} has no ${missing}`);
    const version = readFileSync(join(pgdata, 'PG_VERSION'), 'latin1').trim();
    if (!/^\d{1,2}$/.test(version)) {
      throw damaged(pgdata, `${join(pgdata, 'PG_VERSION')} holds no version`);
    }
    return version;
  } catch (error) {
    throw error instanceof JobqError ? error : unusable(pgdata, error);
  }
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
