import { existsSync } from 'node:fs';
import { checkCluster, type DataDir, prepareDataDir, unusable } from './data-dir.js';
import { examine, glance, wentDownWithMachine } from './examine.js';
import { acquireLock, type Lock } from './lock.js';
import { openPglite, type PgliteDatabase } from './pglite.js';
import type { Database } from './port.js';
import { extractTemplate, TEMPLATE_TAR, templateInfo } from './template.js';

export interface OpenOptions {
  /** A Postgres server. Wins over the other two. */
  databaseUrl?: string;
  /** For a server: see `openPostgres`. */
  answerTimeoutMs?: number;
  /** Keep nothing. */
  memory?: boolean;
  /** The `.jobq` directory; created when it is not there. */
  dataDir?: string;
  /** What is running, for the owner's entry in the lock. */
  command: string;
}

export interface Opened {
  db: Database;
  /** Of a data directory; release it after `db.close()`. */
  lock?: Lock;
}

/**
 * Opens the database that the options name. It may lack migrations: call `migrate` next.
 *
 * @throws JobqError `directory-locked`, `directory-unusable`, `database-unreachable` or
 *   `database-refused`; nothing stays open or locked then.
 */
export async function openDatabase(options: OpenOptions): Promise<Opened> {
  if (options.databaseUrl !== undefined) {
    // Loaded when asked for: a local start does not need `pg`.
    const { openPostgres } = await import('./postgres.js');
    const { databaseUrl, answerTimeoutMs } = options;
    return { db: await openPostgres({ databaseUrl, answerTimeoutMs }) };
  }
  if (options.memory) {
    return { db: await openPglite({ dataDir: 'memory', templatePath: TEMPLATE_TAR }) };
  }
  const dir = prepareDataDir(options.dataDir ?? '.jobq');
  const lock = await acquireLock(dir.root, { command: options.command });
  try {
    return { db: await openCluster(dir, lock), lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openCluster(dir: DataDir, { predecessor }: Lock): Promise<PgliteDatabase> {
  if (!existsSync(dir.pgdata)) {
    try {
      extractTemplate(dir.pgdata);
    } catch (error) {
      throw unusable(dir.pgdata, error);
    }
    return openPglite({ dataDir: dir.pgdata });
  }
  checkCluster(dir, templateInfo().major);
  const db = await openPglite({ dataDir: dir.pgdata });
  try {
    // A kill loses nothing that was written. The end of the machine can: then everything is read.
    if (predecessor !== undefined && wentDownWithMachine(predecessor)) await examine(db);
    else await glance(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}
