// @ts-check
/**
 * Queues that are broken on purpose: a copy of the compiled package in which one rule is left out.
 * A chaos run against one of them has to fail, or it would prove nothing of the right one.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));

/** What is left out, and where. @type {Record<string, { file: string, from: string, to: string }>} */
export const BREAKS = {
  /** A late finisher settles the job of whoever has claimed it since. */
  fence: {
    file: 'queue/settle.js',
    from: `where id = $1::bigint and status = 'running' and claim_id = $2::uuid`,
    to: `where id = $1::bigint and status = 'running'`,
  },
  /** Two drainers claim the same row. */
  'skip-locked': { file: 'queue/claim.js', from: 'for update skip locked', to: '' },
  /** The reaper takes what is still alive. */
  lease: {
    file: 'queue/reap.js',
    from: `$1::timestamptz - $2::bigint * interval '1 millisecond'`,
    to: `$1::timestamptz - $2::bigint * interval '0.1 millisecond'`,
  },
  /** What is given back keeps its attempt. */
  release: { file: 'queue/release.js', from: 'greatest(attempts - 1, 0)', to: 'attempts' },
  /** A verdict that is sent again, because its answer was lost, is taken for a late one. */
  'lost-answer': {
    file: 'queue/settle.js',
    from: `where claim_id = $2 and \${NOT_HEARD_OF}`,
    to: 'where claim_id = $2',
  },
  /** Every failure is the last. */
  retry: {
    file: 'queue/settle.js',
    from: `when attempts >= max_attempts then 'dead' else 'pending' end`,
    to: `else 'dead' end`,
  },
};

/**
 * @param {string} name a key of BREAKS
 * @param {string} folder where to put the copy
 * @returns {string} the path of its command line
 */
export function sabotaged(name, folder) {
  const { file, from, to } = BREAKS[name] ?? unknown(name);
  mkdirSync(folder);
  for (const part of ['dist', 'migrations', 'package.json']) {
    cpSync(path.join(PACKAGE, part), path.join(folder, part), { recursive: true });
  }
  symlinkSync(path.join(PACKAGE, 'node_modules'), path.join(folder, 'node_modules'));
  const target = path.join(folder, 'dist/src', file);
  const text = readFileSync(target, 'utf8');
  if (!text.includes(from))
    throw new Error(`${file} does not hold ${JSON.stringify(from)} any more`);
  writeFileSync(target, text.replace(from, to));
  return path.join(folder, 'dist/src/cli.js');
}

/** @param {string} name @returns {never} */
function unknown(name) {
  throw new Error(`--break knows ${Object.keys(BREAKS).join(', ')}, not ${JSON.stringify(name)}`);
}
