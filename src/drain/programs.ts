import { open } from 'node:fs/promises';
import path from 'node:path';
import { filesIn, type Interpreters, interpreterOf } from './handler.js';

/** The programs that the scripts of a handlers directory are run with, sorted. */
export async function neededPrograms(
  handlersDir: string,
  overrides: Interpreters = {},
): Promise<string[]> {
  const programs = new Set(['sh']);
  for await (const relative of filesIn(handlersDir)) {
    const extension = path.extname(relative);
    const [program] = interpreterOf(extension, overrides);
    const named =
      program ?? (extension === '' ? await shebang(path.join(handlersDir, relative)) : undefined);
    if (named !== undefined) programs.add(named);
  }
  return [...programs].sort();
}

/** What a script's first line names: `#!/usr/bin/env -S python3 -u` is `python3`. */
async function shebang(file: string): Promise<string | undefined> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    const line = /^#!\s*(.*)/.exec(buffer.toString('latin1', 0, bytesRead))?.[1];
    const [program, ...words] = line?.split(/\s+/) ?? [];
    if (program === undefined || path.basename(program) !== 'env') return program;
    return words.find((word) => !word.startsWith('-') && !word.includes('='));
  } finally {
    await handle.close();
  }
}
