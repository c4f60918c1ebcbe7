/** Writes a file that is there whole or not at all. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { JobqError, systemReason } from '../errors.js';

/**
 * @param file its path, or `-` for stdout.
 * @param parts are asked for as fast as the disk or the reader takes them.
 * @throws JobqError `usage` when the file cannot be written; nothing is left of it then.
 */
export async function writeWhole(file: string, parts: AsyncIterable<string>): Promise<void> {
  if (file === '-') {
    await pipeline(parts, process.stdout, { end: false });
    return;
  }
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    await pipeline(parts, createWriteStream(unfinished, { flags: 'wx' }));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new JobqError(
      'usage',
      `cannot write ${file}: ${systemReason(error)}`,
      'Name a file in a directory that can be written, or "-" for stdout.',
      { cause: error },
    );
  }
}
