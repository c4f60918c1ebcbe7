/** The files in a job's output directory, as they are compared and shown. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';

/** Relative path → what is in it: text as it is, of anything else a description. */
export type Files = ReadonlyMap<string, string>;

/** Longer ones are compared by their hash: nobody reads such a diff. */
const LONGEST_TEXT_BYTES = 256 * 1024;

/** Reads every file below `dir`; an empty directory counts as one, with a slash at its end. */
export async function readFiles(dir: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  await collect(dir, '', files);
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function collect(dir: string, folder: string, files: Map<string, string>): Promise<void> {
  const names = await readdir(path.join(dir, folder)).catch(() => []);
  if (names.length === 0 && folder !== '') files.set(`${folder}/`, 'an empty directory');
  for (const name of names) {
    const relative = path.posix.join(folder, name);
    const full = path.join(dir, relative);
    const found = await lstat(full).catch(() => undefined);
    if (found?.isDirectory()) await collect(dir, relative, files);
    else if (found !== undefined) files.set(relative, await describe(full, found));
  }
}

async function describe(file: string, found: Stats): Promise<string> {
  if (found.isSymbolicLink()) return `a link to ${await readlink(file)}`;
  if (!found.isFile()) return 'a special file';
  const bytes = await readFile(file).catch(() => undefined);
  if (bytes === undefined) return 'a file that cannot be read';
  if (bytes.length <= LONGEST_TEXT_BYTES && isUtf8(bytes) && !bytes.includes(0)) {
    return bytes.toString('utf8');
  }
  return `${bytes.length} bytes, sha256 ${createHash('sha256').update(bytes).digest('hex')}`;
}
