/** Puts a job's files, which came from a sandbox, in the place of those that were there. */
import { readdirSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { asBytes, bytePath } from './byte-path.js';

const turns = new Map<string, Promise<void>>();

/** Puts what is in `fresh` in the place of what is in `folder`, one caller a folder at a time. */
export async function replaceContent(folder: string, fresh: string): Promise<void> {
  const turn = (turns.get(folder) ?? Promise.resolve()).then(() => replace(folder, fresh));
  const settled = turn.catch(() => {});
  turns.set(folder, settled);
  void settled.then(() => {
    if (turns.get(folder) === settled) turns.delete(folder);
  });
  return turn;
}

async function replace(folder: string, fresh: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const names = (where: string) => readdirSync(where, { encoding: 'latin1' });
  for (const name of names(folder)) {
    await rm(bytePath(asBytes(folder), name), { recursive: true, force: true });
  }
  for (const name of names(fresh)) {
    const [from, to] = [bytePath(asBytes(fresh), name), bytePath(asBytes(folder), name)];
    await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EXDEV') throw error;
      // Another file system.
      const file = from.toString();
      await cp(file, path.join(folder, path.basename(file)), {
        recursive: true,
        verbatimSymlinks: true,
        preserveTimestamps: true,
      });
    });
  }
}
