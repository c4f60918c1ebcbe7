// @ts-check
/**
 * Products that lose what they acknowledged, or do not start again: copies of the compiled package
 * with one thing left out. A run against one of them has to fail, or it would prove nothing.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** @type {Record<string, { file: string, from: string, to: string }>} */
export const BREAKS = {
  /** A commit is acknowledged before it is in a file. */
  'early-answer': {
    file: 'db/pglite-worker.js',
    from: 'set plan_cache_mode = force_custom_plan',
    to: 'set plan_cache_mode = force_custom_plan; set synchronous_commit = off',
  },
  /** What was left half unpacked is taken for a database. */
  'half-start': {
    file: 'db/template.js',
    from: 'const partial = `${target}.new`;',
    to: 'const partial = target;',
  },
  /** The lock of a dead owner is never taken over. */
  'dead-lock': {
    file: 'db/lock.js',
    from: 'function isGone(owner) {',
    to: 'function isGone(owner) { if (owner) return false;',
  },
  /** Each statement of a migration is a transaction of its own. */
  'half-migration': {
    file: 'db/migrate.js',
    from: 'return db.transaction(async (tx) => {',
    to: `const tx = {
      query: (...given) => db.query(...given),
      exec: async (sql) => {
        for (const part of sql.replaceAll(/--.*/g, '').split(';')) {
          if (part.trim() !== '') await db.exec(part);
        }
      },
    };
    return ((work) => work(tx))(async (tx) => {`,
  },
};

/**
 * @param {string} root of the package
 * @param {string} name a key of BREAKS
 * @param {string} folder where to put the copy; must not exist
 */
export function brokenCopy(root, name, folder) {
  const { file, from, to } = BREAKS[name] ?? unknown(name);
  mkdirSync(folder);
  for (const part of ['dist', 'migrations', 'package.json']) {
    cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const target = path.join(folder, 'dist/src', file);
  const text = readFileSync(target, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} holds no ${JSON.stringify(from)} any more`);
  writeFileSync(
    target,
    text.replace(from, () => to),
  );
}

/** @param {string} name @returns {never} */
function unknown(name) {
  throw new Error(`--break knows ${Object.keys(BREAKS).join(', ')}, not ${JSON.stringify(name)}`);
}
