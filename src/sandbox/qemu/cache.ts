/** What is made once and used by every project: kernels, images, snapshots, results of probes. */

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

/** Absolute: `$XDG_CACHE_HOME/jobq-dev/vm` or `~/.cache/jobq-dev/vm`. */
export function cacheDir(): string {
  const given = process.env.XDG_CACHE_HOME;
  const root =
    given !== undefined && path.isAbsolute(given) ? given : path.join(homedir(), '.cache');
  return path.join(root, 'jobq-dev', 'vm');
}

/** Images and snapshots of this many most recent uses are kept; each is some 50 to 300 MB. */
const KEPT = 4;
/** What is being made for so long was given up. */
const ABANDONED_MS = 3_600_000;

/**
 * The directory of that name; made by `make` when there is none, and there only when it is whole. Two
 * that make it at once do the work twice and keep one.
 */
export async function cached(
  kind: 'images' | 'snapshots' | 'kernels',
  name: string,
  make: (directory: string) => Promise<void>,
): Promise<string> {
  const folder = path.join(cacheDir(), kind);
  const directory = path.join(folder, name);
  if (existsSync(directory)) {
    await inUse(directory);
    return directory;
  }
  const draft = path.join(folder, `.${name}-${randomBytes(4).toString('hex')}`);
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    await make(draft);
    await rename(draft, directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  if (kind !== 'kernels') await removeOld(folder);
  return directory;
}

/** Says that it is used, so that it is not among the old ones. */
export async function inUse(directory: string): Promise<void> {
  const now = new Date();
  await utimes(directory, now, now);
}

/** A running machine keeps what it has open. */
async function removeOld(folder: string): Promise<void> {
  const entries = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const file = path.join(folder, name);
      return { file, name, usedMs: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0 };
    }),
  );
  entries.sort((a, b) => b.usedMs - a.usedMs);
  const drafts = entries.filter(({ name }) => name.startsWith('.'));
  const whole = entries.filter(({ name }) => !name.startsWith('.'));
  const old = [
    ...whole.slice(KEPT),
    ...drafts.filter(({ usedMs }) => usedMs < Date.now() - ABANDONED_MS),
  ];
  for (const { file } of old) await rm(file, { recursive: true, force: true });
}
