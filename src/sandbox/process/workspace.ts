/** A sandbox's private directory is written to from outside. */
import { writeFileSync } from 'node:fs';
import { lstat, mkdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JobqError } from '../../errors.js';
import { outside, plainParts } from '../outside.js';

/**
 * Up to this size a file is written on the spot: tens of microseconds, where each round through the
 * thread pool costs 0.2 ms and more.
 */
const SMALL_BYTES = 65_536;

/**
 * Writes a file into the workspace. Neither `path` nor a link in the workspace leads out of it: an
 * earlier job in the same sandbox may have left links, also hard ones, so a file that is there is
 * removed first and never written through. (Call it while nothing runs in the sandbox.)
 * @throws JobqError `input` for a path that is not inside.
 */
export async function writeInside(
  workspace: string,
  path: string,
  data: string | Uint8Array,
): Promise<void> {
  const parts = plainParts(path);
  const name = parts.pop()!;
  let directory = workspace;
  for (const part of parts) {
    directory = join(directory, part);
    await mkdir(directory, { mode: 0o700 }).catch(ignore('EEXIST'));
    if (!(await lstat(directory)).isDirectory()) throw outside(path);
  }
  const file = join(directory, name);
  // `wx` creates, and follows no link at the end of the path.
  const options = { flag: 'wx', mode: 0o600 } as const;
  try {
    if (data.length <= SMALL_BYTES) writeFileSync(file, data, options);
    else await writeFile(file, data, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if ((await lstat(file)).isDirectory()) {
      throw new JobqError(
        'input',
        `cannot write ${JSON.stringify(path)}: a directory has this name`,
      );
    }
    await unlink(file);
    await writeFile(file, data, options);
  }
}

function ignore(code: string): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
