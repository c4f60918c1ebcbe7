/**
 * From a job's kind to the script that handles it (DESIGN: "The handler contract"). The kind comes
 * from whoever can insert a row: nothing outside the handlers directory can be named by it.
 */
import { constants } from 'node:fs';
import { access, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { shownKind, visible } from '../job/text.js';
import { didYouMean } from '../suggest.js';

/** A script and what runs it. */
export interface Handler {
  /** Absolute, links resolved. */
  dir: string;
  /** Relative to `dir`. */
  script: string;
  /** As `Command.interpreter` of the sandbox port. */
  interpreter: string[];
}

/** Why there is no handler for a kind: the text of a failed attempt, not an exception. */
export interface NoHandler {
  /** As a shell reports it: 127 not found, 126 found but not to be run. */
  exitCode: 126 | 127;
  reason: string;
}

/** Programs by extension, in the order in which a kind's files are looked for. */
const INTERPRETERS: Record<string, readonly string[]> = {
  '.py': ['python3'],
  '.js': ['node'],
  '.mjs': ['node'],
  '.cjs': ['node'],
  '.ts': ['node'],
  '.mts': ['node'],
  '.sh': ['sh'],
  '.rb': ['ruby'],
  '.php': ['php'],
  '.pl': ['perl'],
};

/** What each extension is run with: the built-in table with the config's `interpreters` on top. */
export type Interpreters = Readonly<Record<string, readonly string[]>>;

/** What an extension is run with, where neither a .venv nor tsx changes it. */
export function interpreterOf(extension: string, overrides: Interpreters = {}): readonly string[] {
  return { ...INTERPRETERS, ...overrides }[extension] ?? [];
}

/** The extensions that a handler may have, in the order in which they are looked for. */
export function handlerExtensions(overrides: Interpreters = {}): string[] {
  return Object.keys({ ...INTERPRETERS, ...overrides });
}

export async function findHandler(
  handlersDir: string,
  kind: string,
  overrides: Interpreters = {},
): Promise<Handler | NoHandler> {
  const interpreters = { ...INTERPRETERS, ...overrides };
  let dir: string;
  try {
    dir = await realpath(handlersDir);
  } catch {
    return {
      exitCode: 127,
      reason: `the handlers directory ${handlersDir} does not exist; jobq-dev init makes one with examples`,
    };
  }
  const name = kind.split('/');
  if (name.some((part) => part === '' || isHidden(part) || /[\\\0]/.test(part))) {
    return {
      exitCode: 127,
      reason: `the kind "${shownKind(kind)}" cannot name a handler: each part between slashes must be a file name`,
    };
  }
  for (const extension of [...Object.keys(interpreters), '']) {
    const script = path.join(...name) + extension;
    const real = await realpath(path.join(dir, script)).catch(() => undefined);
    if (real === undefined) continue;
    const found = await stat(real).catch(() => undefined);
    if (!found?.isFile()) continue;
    if (!real.startsWith(dir + path.sep)) {
      return {
        exitCode: 126,
        reason: `${visible(script)} is a link to ${real}, which is outside the handlers directory`,
      };
    }
    if (extension === '' && !(await isExecutable(real))) {
      // The kind "resize.py" is not the handler resize.py.
      if (path.extname(script) in interpreters) break;
      return {
        exitCode: 126,
        reason: `${visible(script)} is not executable, and no extension says what runs it; chmod +x it (it needs a shebang), or give it an extension`,
      };
    }
    if (isTypeScript(extension) && !(extension in overrides) && !(await canRunTypeScript(dir))) {
      return {
        exitCode: 126,
        reason: `${visible(script)} is TypeScript, which node ${process.versions.node} does not run by itself; npm install --save-dev tsx beside it, or use node 22.18 or newer`,
      };
    }
    return {
      dir,
      script,
      interpreter: await choose(dir, extension, interpreters[extension] ?? [], overrides),
    };
  }
  return { exitCode: 127, reason: await notFound(dir, kind, Object.keys(interpreters)) };
}

async function choose(
  dir: string,
  extension: string,
  standard: readonly string[],
  overrides: Interpreters,
): Promise<string[]> {
  if (extension in overrides) return [...standard];
  if (extension === '.py' && (await isExecutable(path.join(dir, '.venv/bin/python3')))) {
    return ['.venv/bin/python3'];
  }
  if (isTypeScript(extension)) {
    const tsx = await findTsx(dir);
    if (tsx !== undefined) return ['node', tsx];
  }
  return [...standard];
}

function isTypeScript(extension: string): boolean {
  return extension === '.ts' || extension === '.mts';
}

/** Node strips types by itself from 22.18 on; before that the project's own tsx has to. */
async function canRunTypeScript(dir: string): Promise<boolean> {
  const { typescript } = process.features as { typescript?: unknown };
  return Boolean(typescript) || (await findTsx(dir)) !== undefined;
}

/** The project's tsx: in a node_modules beside the handlers or in a folder above them. */
async function findTsx(dir: string): Promise<string | undefined> {
  for (let folder = dir; ; folder = path.dirname(folder)) {
    const cli = path.join(folder, 'node_modules/tsx/dist/cli.mjs');
    if (await isFile(cli)) return cli;
    if (folder === path.dirname(folder)) return undefined;
  }
}

async function notFound(dir: string, kind: string, extensions: string[]): Promise<string> {
  const shown = shownKind(kind);
  const known = await knownKinds(dir, extensions);
  const near = didYouMean(kind, known, extensions);
  return `no handler for kind "${shown}"${near || ';'} looked for ${shown}{${extensions.join(',')}} and an executable ${shown} in ${dir}`;
}

/** The kinds that a handlers directory has scripts for, sorted. */
export async function knownKinds(
  handlersDir: string,
  extensions: readonly string[] = handlerExtensions(),
): Promise<string[]> {
  const kinds = new Set<string>();
  for await (const relative of filesIn(handlersDir)) {
    const extension = path.extname(relative);
    if (extension !== '' && !extensions.includes(extension)) continue;
    if (extension === '' && !(await isExecutable(path.join(handlersDir, relative)))) continue;
    kinds.add(
      relative
        .slice(0, relative.length - extension.length)
        .split(path.sep)
        .join('/'),
    );
  }
  return [...kinds].sort();
}

/** Files under a directory, relative to it; hidden folders are not even entered (they are large). */
export async function* filesIn(dir: string, folder = ''): AsyncGenerator<string> {
  const entries = await readdir(path.join(dir, folder), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (isHidden(entry.name)) continue;
    const relative = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(dir, relative);
    else yield relative;
  }
}

function isHidden(part: string): boolean {
  return part.startsWith('.') || part === 'node_modules';
}

async function isFile(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.isFile() ?? false;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return await isFile(file);
  } catch {
    return false;
  }
}
