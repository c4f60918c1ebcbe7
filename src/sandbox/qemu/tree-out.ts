/** Takes files that the guest sends. What comes is not trusted: nothing leads out of the folder. */
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { asBytes, bytePath } from '../byte-path.js';
import type { Frame } from './agent.js';

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
