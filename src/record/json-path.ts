/** The part of JSONPath (RFC 9535) that names places: keys, indexes, `*` for any one, `..` for any depth. */
import { JobqError } from '../errors.js';

/** A key or index, any one of them, or any number of them. */
export type Segment = { key: string } | 'any' | 'deep';

/** `..`, `.*` or `[*]`, `.name`, `[0]`, `['a name']`; the first one needs no dot. */
const STEP =
  /(?<deep>\.\.)|\.?(?<any>\*)|\[\s*(?:(?<anyIndex>\*)|(?<index>\d+)|'(?<single>(?:[^'\\]|\\.)*)'|"(?<double>(?:[^"\\]|\\.)*)")\s*\]|\.?(?<name>[^.[\]*\s'"]+)/y;

/**
 * Reads a path such as `$.user.email`, `items[*].token`, `$..password` or `['a name'].x`.
 * @throws JobqError `usage`
 */
export function parsePath(text: string): Segment[] {
  const segments: Segment[] = [];
  STEP.lastIndex = text.startsWith('$') ? 1 : 0;
  while (STEP.lastIndex < text.length) {
    const { groups } = STEP.exec(text) ?? {};
    if (groups === undefined) break;
    const quoted = groups.single ?? groups.double;
    const key = groups.index ?? groups.name ?? quoted?.replace(/\\(.)/g, '$1');
    if (groups.deep !== undefined) segments.push('deep');
    else segments.push(key === undefined ? 'any' : { key });
  }
  const whole = STEP.lastIndex >= text.length;
  STEP.lastIndex = 0;
  if (whole && segments.length > 0 && segments.at(-1) !== 'deep') return segments;
  throw new JobqError(
    'usage',
    `--redact ${JSON.stringify(text)} is no path`,
    'Name a place in the payload, e.g. user.email, items[*].token or $..password; or a pattern: "/[0-9]{16}/".',
  );
}

/** Whether `pattern` names the value at `path`, or an object or array that it stands in. */
export function covers(pattern: readonly Segment[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return true;
  if (first === 'deep') {
    return path.some((_key, skipped) => covers(rest, path.slice(skipped)));
  }
  const [key, ...below] = path;
  if (key === undefined) return false;
  return (first === 'any' || first.key === key) && covers(rest, below);
}
