import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { acquireLock } from './lock.js';

/** What a reset moves: a new database starts its ids at 1, so old outputs may not stay. */
const PARTS = ['pgdata', 'output'];

/**
 * Moves the database and the outputs of a data directory into `before-reset` beside them, in place
 * of what an earlier reset put there.
 * @returns where they are now; undefined when there was nothing.
 * @throws JobqError `directory-locked`
 */
export async function setAside(dataDir: string): Promise<string | undefined> {
  const parts = PARTS.filter((part) => existsSync(join(dataDir, part)));
  if (parts.length === 0) return undefined;
  const lock = await acquireLock(dataDir, { command: 'jobq-dev reset' });
  try {
    const aside = join(dataDir, 'before-reset');
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside);
    for (const part of parts) renameSync(join(dataDir, part), join(aside, part));
    return aside;
  } finally {
    await lock.release();
  }
}
