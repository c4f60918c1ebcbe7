import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';
import { migrate, migrationFiles } from './migrate.js';
import { openPglite } from './pglite.js';
import { SESSION_FUNCTIONS } from './session-functions.js';
import { type TarEntry, writeTar } from './tar.js';
import { TEMPLATE_INFO, TEMPLATE_TAR, type TemplateInfo } from './template.js';

/**
 * Builds the prepared cluster that every new database starts from, so that initdb runs here and
 * never on a user's machine (measured: about 6 s there).
 *
 * The migrations are in it: a first start then finds nothing to apply. A database made from an
 * older template gets the newer ones by `migrate`, as any other.
 *
 * Run by `npm run build`; does nothing when its inputs have not changed.
 */

/**
 * One MiB of write-ahead log at a time instead of 16: an empty cluster is 16 MB smaller, on disk
 * and in memory.
 */
const INITDB_FLAGS = ['--wal-segsize=1'];

/**
 * shared_buffers: the default of 128 MB costs 100 MB of resident memory at the start (measured: 364
 * against 262 MB) for pages that the file system caches anyway.
 * max_wal_size: how much is kept for reuse after a checkpoint; the checkpoints themselves are the
 * worker's (see pglite-worker.ts).
 */
const SETTINGS = `
# jobq-dev: a small local database.
shared_buffers = 32MB
max_wal_size = 16MB
min_wal_size = 2MB
timezone = 'UTC'
log_timezone = 'UTC'
`;

async function inputsDigest(): Promise<string> {
  const require = createRequire(import.meta.url);
  const pglite = dirname(require.resolve('@electric-sql/pglite'));
  const { version } = JSON.parse(readFileSync(join(pglite, '../package.json'), 'utf8'));
  const hash = createHash('sha256').update(JSON.stringify({ version, INITDB_FLAGS, SETTINGS }));
  // What this file does to the cluster counts as an input too.
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  hash.update(SESSION_FUNCTIONS);
  for (const { name, sql } of await migrationFiles()) hash.update(`\n${name}\n${sql}`);
  return hash.digest('hex');
}

function readTree(root: string, prefix = ''): TarEntry[] {
  return readdirSync(join(root, prefix))
    .sort()
    .flatMap((name): TarEntry[] => {
      const path = prefix === '' ? name : `${prefix}/${name}`;
      return statSync(join(root, path)).isDirectory()
        ? [{ path, data: undefined }, ...readTree(root, path)]
        : [{ path, data: readFileSync(join(root, path)) }];
    });
}

async function build(scratch: string): Promise<Buffer> {
  const dataDir = join(scratch, 'pgdata');
  mkdirSync(dataDir);
  const fresh = await PGlite.create(dataDir, { initDbStartParams: INITDB_FLAGS });
  await fresh.close();
  appendFileSync(join(dataDir, 'postgresql.conf'), SETTINGS);

  const db = await openPglite({ dataDir });
  await migrate(db);
  await db.exec(SESSION_FUNCTIONS);
  await db.exec('vacuum (freeze, analyze)');
  // A fresh segment of write-ahead log, so that the ones before it are not needed…
  await db.exec('checkpoint');
  await db.query('select pg_switch_wal()');
  await db.exec('checkpoint');
  const { rows } = await db.query<{ file: string }>(
    'select pg_walfile_name(pg_current_wal_insert_lsn()) as file',
  );
  await db.close();
  // …and the ones after it, kept for reuse, are 5 MB of old records that nobody reads.
  const wal = join(dataDir, 'pg_wal');
  for (const name of readdirSync(wal)) {
    if (/^[0-9A-F]{24}$/.test(name) && name !== rows[0]!.file) rmSync(join(wal, name));
  }
  return writeTar(readTree(dataDir));
}

const inputs = await inputsDigest();
const current = existsSync(TEMPLATE_INFO) && existsSync(TEMPLATE_TAR);
if (!current || JSON.parse(readFileSync(TEMPLATE_INFO, 'utf8')).inputs !== inputs) {
  const scratch = mkdtempSync(join(tmpdir(), 'jobq-template-'));
  try {
    const tar = await build(scratch);
    const info: TemplateInfo = {
      major: Number.parseInt(readFileSync(join(scratch, 'pgdata/PG_VERSION'), 'utf8'), 10),
      inputs,
    };
    mkdirSync(dirname(TEMPLATE_TAR), { recursive: true });
    writeFileSync(TEMPLATE_TAR, gzipSync(tar, { level: 9 }));
    writeFileSync(TEMPLATE_INFO, `${JSON.stringify(info)}\n`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
