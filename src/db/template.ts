import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { readTar } from './tar.js';

/** The prepared cluster that the build made (see build-template.ts), and what it was made from. */
export const TEMPLATE_TAR = fileURLToPath(new URL('../../template/pgdata.tar.gz', import.meta.url));
export const TEMPLATE_INFO = fileURLToPath(new URL('../../template/pgdata.json', import.meta.url));

/** Written beside the prepared cluster. */
export interface TemplateInfo {
  /** The major version of Postgres that can open it. */
  major: number;
  /** A digest of what it was made from. */
  inputs: string;
}

export function templateInfo(): TemplateInfo {
  return JSON.parse(readFileSync(TEMPLATE_INFO, 'utf8'));
}

/**
 * Puts the prepared cluster at `target`, which must not exist. It is there as a whole or not at
 * all: a process killed half way leaves only a `.new` directory, which the next one replaces. The
 * caller holds the lock, so nobody else writes there.
 */
export function extractTemplate(target: string): void {
  const partial = `${target}.new`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  // Synchronous on purpose: a thousand small files take about 60 ms this way and several times as
  // long through the thread pool, and nothing else can go on before there is a database.
  for (const { path, data } of readTar(gunzipSync(readFileSync(TEMPLATE_TAR)))) {
    if (data === undefined) mkdirSync(`${partial}/${path}`, { recursive: true, mode: 0o700 });
    else writeFileSync(`${partial}/${path}`, data, { mode: 0o600 });
  }
  renameSync(partial, target);
}
