/** A sandbox's private directory: made, written to from outside, and removed whatever is in it. */
import { execFile } from 'node:child_process';
import { readdirSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { JobqError } from '../../errors.js';

const run = promisify(execFile);

/**
 * Up to this size a file is written on the spot, and up to this number of entries a directory
 * removed so: tens of microseconds, where each round through the thread pool costs 0.2 ms and more.
 */
const SMALL_BYTES = 65_536;
const FEW_ENTRIES = 8;

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
  const parts = path.split('/');
  if (path.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw outside(path);
  }
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
      throw new JobqError('input', `cannot write ${quote(path)}: a directory has this name`);
    }
    await unlink(file);
    await writeFile(file, data, options);
  }
}

/**
 * Removes a directory with all that is in it, also directories that their owner made read-only and
 * trees deeper than a path can be long (which node's `rm` cannot do: coreutils' can).
 * @throws Error when something is left.
 */
export async function removeTree(directory: string): Promise<void> {
  if (removeSmall(directory)) return;
  try {
    await rm(directory, { recursive: true, force: true });
  } catch {
    await run('chmod', ['-R', 'u+rwx', '--', directory]).catch(() => {}); // rm says what is left
    await run('rm', ['-rf', '--', directory]);
  }
}

/** Removes a directory with a few files and no directories in it; false when it is another. */
function removeSmall(directory: string): boolean {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    if (entries.length > FEW_ENTRIES || entries.some((each) => each.isDirectory())) return false;
    for (const { name } of entries) unlinkSync(join(directory, name));
    rmdirSync(directory);
    return true;
  } catch {
    return false; // the thorough way finds out what is the matter
  }
}

function outside(path: string): JobqError {
  return new JobqError(
    'input',
    `cannot write ${quote(path)}: not a path inside the sandbox's workspace`,
    'Give a relative path, without "..", that no link leads elsewhere.',
  );
}

function quote(path: string): string {
  return JSON.stringify(path);
}

function ignore(code: string): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
