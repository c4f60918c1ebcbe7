/** Folders as archives, and back. Every system that jobq-dev runs on has tar. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { JobqError } from '../../errors.js';
import { replaceContent } from '../replace-content.js';

/** What the service takes as one file. */
const MOST_BYTES = 32 * 1024 ** 2;

/**
 * What is in a folder.
 * @param what the folder's name in messages; `leaveOut` are patterns of tar's.
 * @throws JobqError `sandbox-unavailable` for more than the service takes.
 */
export async function packed(
  folder: string,
  what: string,
  leaveOut: readonly string[] = [],
): Promise<Buffer> {
  const patterns = leaveOut.map((each) => `--exclude=${each}`);
  const options = { encoding: 'buffer', maxBuffer: MOST_BYTES } as const;
  try {
    const args = ['-cf', '-', ...patterns, '-C', folder, '.'];
    return (await promisify(execFile)('tar', args, options)).stdout;
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' ? tooLarge(what) : error;
  }
}

/** @throws JobqError `sandbox-unavailable` for more than the service takes. */
export function refuseLarge(bytes: Uint8Array, what: string): void {
  if (bytes.length > MOST_BYTES) throw tooLarge(what);
}

function tooLarge(what: string): JobqError {
  return new JobqError(
    'sandbox-unavailable',
    `${what} is more than the 32 MiB that PandaStack takes at a time`,
    'Put packages into the template of the sandbox.',
  );
}

/** Puts what is in an archive in the place of what is in a folder. */
export async function unpackInto(folder: string, archive: Buffer): Promise<void> {
  const temporary = await mkdtemp(path.join(tmpdir(), 'jobq-output-'));
  try {
    const file = path.join(temporary, 'archive');
    const fresh = path.join(temporary, 'content');
    await mkdir(fresh);
    await writeFile(file, archive);
    // What comes is not trusted: an empty folder, and tar follows no path and no link out of it.
    await promisify(execFile)('tar', ['-xf', file, '-C', fresh, '--no-same-owner']);
    await replaceContent(folder, fresh);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
