import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { JobqError } from '../errors.js';
import { HIDDEN, isAlive, processStart } from '../process-identity.js';
import { unusable } from './data-dir.js';

/**
 * One owner per data directory, across processes: PGlite has no lock of its own, and two engines on
 * one directory destroy it (pglite 1106).
 *
 * The lock is a row of generations, `lock.1`, `lock.2`, …, of which the highest counts. Taking it
 * over means to create the next one by link(2), which fails if somebody else was first; so of many
 * processes that see the same dead owner exactly one wins. Generations only grow: a release writes
 * "released" into its own and leaves it there, because a deleted file could be created a second
 * time by a process that still acts on what it read before.
 */

export interface OwnerInfo {
  pid: number;
  /** See process-identity.ts: tells a process from a later one with the same pid. */
  processStart: string;
  host: string;
  /** What the owner runs, e.g. `jobq-dev`. */
  command: string;
  /** ISO 8601. */
  startedAt: string;
  /** Where the owner answers over HTTP, once it does. */
  url?: string;
  /** Where it answers Postgres clients. */
  postgres?: string;
}

export interface Lock {
  readonly info: OwnerInfo;
  /** Whose lock this was before, if it died with it. */
  readonly predecessor: OwnerInfo | undefined;
  /** Makes more of the owner known to others. */
  update(more: Pick<OwnerInfo, 'url' | 'postgres'>): void;
  /** Gives the directory free. Idempotent. */
  release(): void;
}

interface Generation {
  number: number;
  /** undefined when it was released. */
  owner: OwnerInfo | undefined;
}

/**
 * Takes the lock of a `.jobq` directory, which must exist.
 *
 * A live owner keeps it, however long it has been silent: it may be stopped or blocked and will
 * write again (gbrain 2400). A dead one loses it at once. One on another host is never judged.
 *
 * @throws JobqError `directory-locked` naming the owner, `directory-unusable` when the directory
 *   cannot be written.
 */
export async function acquireLock(dir: string, { command }: { command: string }): Promise<Lock> {
  const info: OwnerInfo = {
    pid: process.pid,
    processStart: processStart(process.pid) ?? HIDDEN,
    host: hostname(),
    command,
    startedAt: new Date().toISOString(),
  };
  try {
    return takeNextGeneration(dir, info);
  } catch (error) {
    throw error instanceof JobqError ? error : unusable(dir, error);
  }
}

function takeNextGeneration(dir: string, info: OwnerInfo): Lock {
  const draft = join(dir, `lock.new.${info.pid}.${draftNumber++}`);
  writeFileSync(draft, JSON.stringify(info));
  try {
    for (;;) {
      const current = currentGeneration(dir);
      if (current?.owner && !isGone(current.owner)) throw locked(dir, current.owner);
      const mine = (current?.number ?? 0) + 1;
      const path = generationPath(dir, mine);
      if (!linkExclusively(draft, path)) continue;
      // While this process slept between its look and its link, others may have gone on to later
      // generations and removed the one it now made again. The latest is never removed, so it shows.
      if (Math.max(...generationNumbers(dir)) > mine) {
        rmSync(path, { force: true });
        continue;
      }
      removeLeftovers(dir, mine);
      return heldLock(dir, mine, info, current?.owner);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

let draftNumber = 0;

/**
 * @returns the live owner of a `.jobq` directory, or undefined when there is none.
 * @throws JobqError `directory-unusable` when it cannot be read.
 */
export async function readOwner(dir: string): Promise<OwnerInfo | undefined> {
  try {
    const owner = currentGeneration(dir)?.owner;
    return owner && !isGone(owner) ? owner : undefined;
  } catch (error) {
    throw unusable(dir, error);
  }
}

function heldLock(
  dir: string,
  generation: number,
  initial: OwnerInfo,
  predecessor: OwnerInfo | undefined,
): Lock {
  let info = initial;
  let released = false;
  const path = generationPath(dir, generation);
  return {
    predecessor,
    get info() {
      return info;
    },
    update(more) {
      if (released) return;
      info = { ...info, ...more };
      replace(path, JSON.stringify(info));
    },
    release() {
      if (released) return;
      released = true;
      replace(path, JSON.stringify({ released: true }));
    },
  };
}

/** Readers see the old content or the new one, never half of it. */
function replace(path: string, content: string): void {
  const draft = `${path}.new`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}

function generationPath(dir: string, number: number): string {
  return join(dir, `lock.${number}`);
}

function generationNumbers(dir: string): number[] {
  return readdirSync(dir)
    .map((name) => /^lock\.(\d+)$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number);
}

function currentGeneration(dir: string): Generation | undefined {
  for (;;) {
    const numbers = generationNumbersOrNone(dir);
    if (numbers.length === 0) return undefined;
    const number = Math.max(...numbers);
    try {
      const content: unknown = JSON.parse(readFileSync(generationPath(dir, number), 'utf8'));
      return { number, owner: isOwner(content) ? content : undefined };
    } catch (error) {
      // Removed since by the owner of a later one: look again.
      if (isErrno(error, 'ENOENT')) continue;
      // link(2) publishes whole files only, so this is damage from outside (a power cut, an editor).
      if (error instanceof SyntaxError) return { number, owner: undefined };
      throw error;
    }
  }
}

/** Not so for a lock that was released, nor for one that something has damaged. */
function isOwner(content: unknown): content is OwnerInfo {
  const { pid, processStart, host } = (content ?? {}) as Partial<OwnerInfo>;
  return typeof pid === 'number' && typeof processStart === 'string' && typeof host === 'string';
}

function generationNumbersOrNone(dir: string): number[] {
  try {
    return generationNumbers(dir);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

function linkExclusively(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Older generations, and drafts of processes that died before they could use them. */
function removeLeftovers(dir: string, current: number): void {
  for (const name of readdirSync(dir)) {
    const [, number, pid] = /^lock\.(?:(\d+)|new\.(\d+)\.\d+)$/.exec(name) ?? [];
    const isOlder = number !== undefined && Number(number) < current;
    const isOrphan = pid !== undefined && processStart(Number(pid)) === undefined;
    if (isOlder || isOrphan) rmSync(join(dir, name), { force: true });
  }
}

function isGone(owner: OwnerInfo): boolean {
  return owner.host === hostname() && !isAlive(owner);
}

function isErrno(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

function locked(dir: string, owner: OwnerInfo): JobqError {
  const who = `process ${owner.pid} (${owner.command}), started ${owner.startedAt}`;
  if (owner.host !== hostname()) {
    return new JobqError(
      'directory-locked',
      `${dir} is in use by ${who}, on another machine: ${owner.host}`,
      `If that process is gone for good, delete ${join(dir, 'lock.*')}; this machine cannot tell.`,
    );
  }
  return new JobqError(
    'directory-locked',
    `${dir} is in use by ${who}`,
    `Stop it first (kill ${owner.pid}), or use another directory: --data-dir`,
  );
}
