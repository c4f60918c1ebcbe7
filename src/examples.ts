/** The examples that ship with the package, copied for a user. */
import { cp, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from './paths.js';

/** Where fixtures and handlers lie in the package. */
export const FIXTURES = fileURLToPath(new URL('fixtures/', PACKAGE_ROOT));

/** Copies the example handlers; calls `note` with each file and whether it is new. */
export function copyHandlers(
  to: string,
  note?: (file: string, isNew: boolean) => void,
): Promise<void> {
  return copyNew(path.join(FIXTURES, 'examples/handlers'), to, note);
}

/** Copies a file or a tree, passing over what is there already. */
export async function copyNew(
  from: string,
  to: string,
  note: (file: string, isNew: boolean) => void = () => {},
): Promise<void> {
  if ((await stat(from)).isDirectory()) {
    await mkdir(to, { recursive: true });
    for (const name of (await readdir(from)).sort()) {
      await copyNew(path.join(from, name), path.join(to, name), note);
    }
    return;
  }
  await mkdir(path.dirname(to), { recursive: true });
  try {
    await cp(from, to, { errorOnExist: true, force: false });
    note(to, true);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_FS_CP_EEXIST') throw error;
    note(to, false);
  }
}
