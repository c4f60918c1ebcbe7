/**
 * Where the emulator of a data directory answers, for commands of the same folder: also for one
 * whose database lies elsewhere, and so has no lock.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { prepareDataDir } from './db/data-dir.js';
import { HIDDEN, isAlive, processStart } from './process-identity.js';

export interface Presence {
  pid: number;
  /** See process-identity.ts. */
  processStart: string;
  host: string;
  url: string;
  /** What requests must carry, where that is asked for. */
  token?: string;
}

/**
 * Makes the emulator known, until the returned function is called. Of several that share a data
 * directory the last one is found.
 */
export function announcePresence(
  dataDir: string,
  { url, token }: { url: string; token?: string | undefined },
): () => void {
  prepareDataDir(dataDir);
  const presence: Presence = {
    pid: process.pid,
    processStart: processStart(process.pid) ?? HIDDEN,
    host: hostname(),
    url,
    ...(token !== undefined && { token }),
  };
  const file = fileOf(dataDir);
  const draft = `${file}.${process.pid}`;
  // The token opens a door to running code: nobody else may read it.
  writeFileSync(draft, JSON.stringify(presence), { mode: 0o600 });
  renameSync(draft, file);
  return () => {
    if (read(dataDir)?.pid === process.pid) rmSync(file, { force: true });
  };
}

/** @returns undefined when no emulator is known there, or the one that was has ended. */
export function findPresence(dataDir: string): Presence | undefined {
  const presence = read(dataDir);
  return presence?.host === hostname() && isAlive(presence) ? presence : undefined;
}

function read(dataDir: string): Presence | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as Presence;
  } catch {
    // Not there, or not whole: either way nobody is known.
    return undefined;
  }
}

function fileOf(dataDir: string): string {
  return path.join(dataDir, 'emulator.json');
}
