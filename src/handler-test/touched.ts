import path from 'node:path';
import { CASES_SUFFIX, type TestCase } from './cases.js';

/** What stands beside a handler and belongs to it. */
const COMPANIONS = [CASES_SUFFIX, '.http.json', '.snapshot.json'];

/**
 * The kinds that have to be tested again after these files changed. A file beside the handlers that
 * belongs to no kind may be used by any of them.
 * @param files absolute paths.
 * @param cases the cases of the last run; their names are relative to `cwd`.
 * @param kinds that have a handler.
 */
export function touchedKinds(
  files: readonly string[],
  cases: readonly TestCase[],
  { handlersDir, cwd, kinds }: { handlersDir: string; cwd: string; kinds: readonly string[] },
): string[] {
  const all = [...new Set(cases.map(({ kind }) => kind))];
  const touched = files.flatMap((file) => {
    const relative = path.relative(handlersDir, file);
    if (relative.startsWith('..')) return kindsIn(file, cases, cwd) ?? all;
    const companion = COMPANIONS.find((suffix) => relative.endsWith(suffix));
    const end = companion ?? path.extname(relative);
    const kind = relative
      .slice(0, relative.length - end.length)
      .split(path.sep)
      .join('/');
    return all.includes(kind) || kinds.includes(kind) ? [kind] : all;
  });
  return [...new Set(touched)];
}

/** The kinds of a fixture; undefined when it is new. */
function kindsIn(file: string, cases: readonly TestCase[], cwd: string): string[] | undefined {
  const shown = path.relative(cwd, file);
  const inside = cases.filter(({ name }) => name.replace(/:\d+$/, '') === shown);
  return inside.length === 0 ? undefined : inside.map(({ kind }) => kind);
}
