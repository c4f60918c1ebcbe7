/** A copy of the compiled queue with one thing broken in it. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { migrate } from '#src/db/migrate.js';
import type { Verbs } from '../model/verbs.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** What is changed, in dist/src. */
export interface Break {
  file: string;
  /** Occurs there once. */
  from: string;
  to: string;
}

/** Files that are copied; everything else is linked, so that both queues share one `DatabaseError`. */
const isCopied = (path: string) => path.startsWith('queue/') || path === 'db/migrate.js';

/**
 * @param dir an empty directory.
 * @throws Error when the text to replace is not there, or not once.
 */
export async function brokenQueue(
  dir: string,
  { file, from, to }: Break,
): Promise<{ verbs: Verbs; migrate: typeof migrate }> {
  const dist = join(ROOT, 'dist/src');
  const copy = join(dir, 'dist/src');
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.js')) continue;
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    if (isCopied(path)) {
      // Without the source map that it names: that one is not copied.
      const code = readFileSync(join(dist, path), 'utf8').replace(/^\/\/# source.*$/m, '');
      writeFileSync(join(copy, path), code);
    } else {
      symlinkSync(join(dist, path), join(copy, path));
    }
  }
  symlinkSync(join(ROOT, 'migrations'), join(dir, 'migrations'));

  const whole = readFileSync(join(copy, file), 'utf8');
  const parts = whole.split(from);
  if (parts.length !== 2) {
    throw new Error(`${file} holds ${parts.length - 1} times, and not once: ${from}`);
  }
  writeFileSync(join(copy, file), parts.join(to));

  const load = (path: string) => import(pathToFileURL(join(copy, path)).href);
  const files = readdirSync(join(copy, 'queue'));
  const modules = await Promise.all(files.map((name) => load(`queue/${name}`)));
  return { verbs: Object.assign({}, ...modules), ...(await load('db/migrate.js')) };
}
