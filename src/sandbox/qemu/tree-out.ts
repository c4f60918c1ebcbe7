/** Takes files that the guest sends. What comes is not trusted: nothing leads out of the folder. */
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Frame } from './agent.js';
import { asBytes, bytePath } from './byte-path.js';

export class TreeReceiver {
  readonly #top: string;
  /** Folders that were made here: a file goes into no other, so through no link. */
  readonly #folders = new Set(['']);
  #file: { handle: number; path: Buffer; mtime: number } | undefined;

  /** @param folder to be made, absolute. */
  constructor(folder: string) {
    mkdirSync(folder);
    this.#top = asBytes(folder);
  }

  /** @throws Error for a path that is not inside, and what the file system says. */
  take({ letter, payload }: Frame): void {
    if (letter === 'D') {
      for (let at = 0; at < payload.length; ) at += writeSync(this.#file!.handle, payload, at);
      return;
    }
    this.finish();
    const [type, mode, mtime, inner = '', target = ''] = payload.toString('latin1').split('\0');
    const parts = inner.split('/');
    const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
    const folder = parts.slice(0, -1).join('/');
    if (!isPlain || !this.#folders.has(folder)) throw new Error('the guest sent a path outside');
    const place = bytePath(this.#top, inner);
    if (type === 'd') {
      mkdirSync(place);
      chmodSync(place, Number(mode) | 0o700);
      this.#folders.add(inner);
    } else if (type === 'l') {
      symlinkSync(Buffer.from(target, 'latin1'), place);
    } else {
      const handle = openSync(place, 'wx', 0o600);
      this.#file = { handle, path: place, mtime: Number(mtime) };
      chmodSync(place, Number(mode) & 0o777);
    }
  }

  finish(): void {
    if (this.#file === undefined) return;
    const { handle, path, mtime } = this.#file;
    this.#file = undefined;
    closeSync(handle);
    utimesSync(path, mtime, mtime);
  }
}

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
