/** A data directory whose files are not what they were: what is said, and the way out. */
import { randomFillSync } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainDamage } from '#src/db/damage.js';
import { examine } from '#src/db/examine.js';
import { migrate } from '#src/db/migrate.js';
import { openDatabase } from '#src/db/open.js';
import { DatabaseError } from '#src/db/port.js';
import { setAside } from '#src/db/set-aside.js';
import { JobqError } from '#src/errors.js';
import { claim } from '#src/queue/claim.js';
import { enqueue } from '#src/queue/enqueue.js';
import { listJobs } from '#src/queue/list.js';
import { stats } from '#src/queue/stats.js';
import { tempDir } from '../support/temp-dir.js';

const JOBS = 500;
const PAGE = 8192;

/** A directory with jobs in it, of which the tests damage copies. */
let pristine: string;
/** Paths of relations below pgdata, by name. */
const files = new Map<string, string>();

beforeAll(async () => {
  pristine = mkdtempSync(join(tmpdir(), 'jobq-test-'));
  const { db, lock } = await openDatabase({ dataDir: pristine, command: 'test' });
  await migrate(db);
  const now = new Date();
  await enqueue(db, {
    jobs: Array.from({ length: JOBS }, () => ({ kind: 'a', payload: '{}' })),
    now,
  });
  await claim(db, { limit: 5, now, provider: 'process', isolation: 'none' });
  const { rows } = await db.query<{ name: string; path: string }>(
    `select relname as name, pg_relation_filepath(oid) as path from pg_class
     where relname ~ '^job' or relname = 'pg_class'`,
  );
  for (const { name, path } of rows) files.set(name, path);
  await db.close();
  lock!.release();
});
afterAll(() => rmSync(pristine, { recursive: true, force: true }));

function damagedCopy(damage: (pgdata: string) => void): string {
  const dataDir = tempDir();
  cpSync(pristine, dataDir, { recursive: true });
  damage(join(dataDir, 'pgdata'));
  return dataDir;
}

/** A little of everything that a command does. @returns how many jobs there are. */
async function use(dataDir: string): Promise<number> {
  const { db, lock } = await openDatabase({ dataDir, command: 'test' });
  try {
    await migrate(db);
    const now = new Date();
    await enqueue(db, { jobs: [{ kind: 'b', payload: '{}' }], now });
    for (const status of [undefined, 'pending'] as const) {
      await listJobs(db, { status, limit: 1_000 });
    }
    await listJobs(db, { kind: 'a', limit: 1_000 });
    await claim(db, { limit: JOBS, now, provider: 'process', isolation: 'none' });
    const { counts } = await stats(db, { now });
    return counts.pending + counts.running;
  } finally {
    await db.close();
    lock!.release();
  }
}

/** That it is said what is wrong, in words for people, and that the way out is one. */
async function expectWayOut(dataDir: string, reason: RegExp): Promise<void> {
  const error = await use(dataDir).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(JobqError);
  const { code, message, hint } = error as JobqError;
  expect(message).toMatch(reason);
  expect(code).toBe('directory-unusable');
  expect(message).toContain(`the database in ${dataDir} is damaged: `);
  expect(hint).toBe(
    `jobq-dev reset --data-dir ${dataDir} sets a copy of it aside and starts afresh.`,
  );
  expect(message).not.toMatch(/Aborted\(|exit\(|UTC|\p{Cc}|\ufffd/u);
  const aside = await setAside(dataDir);
  expect(existsSync(join(aside!, 'pgdata'))).toBe(true);
  expect(await use(dataDir)).toBe(1);
}

type Change = (path: string) => void;

const remove: Change = (path) => rmSync(path, { recursive: true });
const replace: Change = (path) => {
  remove(path);
  writeFileSync(path, '');
};
const hollow: Change = (path) => {
  remove(path);
  mkdirSync(path);
};
const cut =
  (bytes: number): Change =>
  (path) =>
    truncateSync(path, bytes);
const garble =
  (from: number, bytes: number): Change =>
  (path) => {
    const data = readFileSync(path);
    randomFillSync(data, from, Math.min(bytes, data.length - from));
    writeFileSync(path, data);
  };

/** A change of one file or folder below pgdata. */
const of = (path: string, change: Change) => (pgdata: string) => change(join(pgdata, path));
const ofRelation = (name: string, change: Change) => (pgdata: string) =>
  change(join(pgdata, files.get(name)!));
const ofSegments = (change: Change) => (pgdata: string) => {
  const wal = join(pgdata, 'pg_wal');
  for (const name of readdirSync(wal)) if (/^[0-9A-F]{24}$/.test(name)) change(join(wal, name));
};

describe('a damaged directory is explained, and reset makes it whole', () => {
  it.each<[string, (pgdata: string) => void, RegExp]>([
    ['pgdata is empty', hollow, /has no PG_VERSION$/],
    ['pgdata is a file', replace, /pgdata is no directory$/],
    ['no PG_VERSION', of('PG_VERSION', remove), /has no PG_VERSION$/],
    ['an empty PG_VERSION', of('PG_VERSION', cut(0)), /PG_VERSION holds no version$/],
    ['a garbled PG_VERSION', of('PG_VERSION', garble(0, 2)), /PG_VERSION holds no version$/],
    ['no postgresql.conf', of('postgresql.conf', remove), /has no postgresql.conf$/],
    ['a garbled postgresql.conf', of('postgresql.conf', garble(0, 500)), /contains errors$/],
    ['no control file', of('global/pg_control', remove), /has no global\/pg_control$/],
    ['a cut control file', of('global/pg_control', cut(10)), /read 10 of \d+$/],
    ['a garbled control file', of('global/pg_control', garble(0, 300)), /incompatible/],
    ['no catalogs', of('base', remove), /has no base$/],
    ['no write-ahead log', of('pg_wal', remove), /has no pg_wal$/],
    ['no segment of it', ofSegments(remove), /valid checkpoint record/],
    ['a cut segment', ofSegments(cut(100)), /valid checkpoint record/],
    ['garbled segments', ofSegments(garble(0, 2 ** 20)), /valid checkpoint record/],
    ['no transaction states', of('pg_xact/0000', remove), /status of transaction/],
    ['a garbled map of files', of('global/pg_filenode.map', garble(0, 99)), /invalid data$/],
    ['a garbled catalog', ofRelation('pg_class', garble(0, 99)), /invalid page in block 0/],
    ['no file of jobs', ofRelation('jobs', remove), /could not open file/],
    ['an empty file of jobs', ofRelation('jobs', cut(0)), /could not read block/],
    ['a cut file of jobs', ofRelation('jobs', cut(2 * PAGE)), /could not read block/],
    ['a garbled file of jobs', ofRelation('jobs', garble(2 * PAGE, 99)), /invalid page in block 2/],
    ['an empty index', ofRelation('jobs_pkey', cut(0)), /could not read block/],
    ['a garbled index', ofRelation('jobs_kind_idx', garble(PAGE, 99)), /invalid page in block 1/],
    ['no sequence', ofRelation('jobs_id_seq', remove), /could not open file/],
    ['no file of attempts', ofRelation('job_attempts', remove), /could not open file/],
    ['an empty file of migrations', ofRelation('jobq_migrations', cut(0)), /could not read block/],
  ])('%s', async (_what, damage, reason) => {
    await expectWayOut(damagedCopy(damage), reason);
  });

  it('not when nothing is wrong', async () => {
    expect(await use(damagedCopy(() => {}))).toBe(JOBS + 1);
  });

  it('not for what is kept for speed only', async () => {
    const dataDir = damagedCopy((pgdata) => {
      for (const folder of ['pg_stat', 'base/5']) {
        for (const name of readdirSync(join(pgdata, folder))) {
          if (/stat$|\.init$|_fsm$|_vm$/.test(name)) garble(0, 500)(join(pgdata, folder, name));
        }
      }
    });
    expect(await use(dataDir)).toBe(JOBS + 1);
  });

  it('also while it is in use', async () => {
    const dataDir = damagedCopy(() => {});
    const { db, lock } = await openDatabase({ dataDir, command: 'test' });
    // What was opened before is still there for the one who has it open.
    remove(join(dataDir, 'pgdata', files.get('jobs_id_seq')!));
    await expect(db.query(`select nextval('jobs_id_seq')`)).rejects.toMatchObject({
      code: 'directory-unusable',
      message: expect.stringContaining(
        `the database in ${dataDir} is damaged: could not open file`,
      ),
    });
    expect((await db.query('select from jobs')).rowCount).toBe(JOBS);
    await db.close();
    lock!.release();
  });
});

describe('a full disk', () => {
  it('is not taken for damage', () => {
    const error = new DatabaseError('could not extend file: No space left on device', '53100');
    expect(explainDamage(error, '/here/.jobq/pgdata')).toMatchObject({
      code: 'directory-unusable',
      message:
        'the disk that holds /here/.jobq is full: could not extend file: No space left on device',
      hint: expect.stringContaining('Free some space'),
    });
  });
});

describe('pages that have become zeros', () => {
  /** As a power cut may leave them: nothing reads wrong, rows are just not there. */
  const zeros = (pgdata: string) => {
    const path = join(pgdata, files.get('jobs')!);
    const data = readFileSync(path);
    data.fill(0, 0, PAGE);
    writeFileSync(path, data);
  };
  const lostTo = (dataDir: string, more: object) =>
    writeFileSync(
      join(dataDir, 'lock.99'),
      JSON.stringify({
        pid: 2 ** 30,
        processStart: 'another boot:1',
        host: hostname(),
        command: 'jobq-dev',
        ...more,
      }),
    );

  it('are found by the first start after the machine went down', async () => {
    const dataDir = damagedCopy(zeros);
    lostTo(dataDir, { startedAt: '2001-01-01T00:00:00.000Z' });
    await expectWayOut(dataDir, /there are \d+ rows in the file of jobs, and \d+ in its index$/);
  });

  it('are not looked for after a kill, which cannot make them', async () => {
    const dataDir = damagedCopy(zeros);
    lostTo(dataDir, { startedAt: new Date().toISOString() });
    const { db, lock } = await openDatabase({ dataDir, command: 'test' });
    await expect(examine(db)).rejects.toMatchObject({ code: 'directory-unusable' });
    await db.close();
    lock!.release();
  });

  it('are not seen where there are none: deleted, changed and uncommitted rows are none', async () => {
    const dataDir = damagedCopy(() => {});
    const { db, lock } = await openDatabase({ dataDir, command: 'test' });
    await db.exec(
      'delete from jobs where id % 3 = 0; update jobs set attempts = 0 where id % 5 = 1',
    );
    const aborted = db.transaction(async (tx) => {
      await tx.exec(
        `insert into jobs (kind, payload) select 'a', '{}' from generate_series(1, 99)`,
      );
      throw new Error('no');
    });
    await expect(aborted).rejects.toThrow('no');
    await examine(db);
    await db.close();
    lock!.release();
    lostTo(dataDir, { startedAt: '2001-01-01T00:00:00.000Z' });
    expect(await use(dataDir)).toBe(JOBS - Math.floor(JOBS / 3) + 1);
  });
});

describe('a damaged lock', () => {
  it.each(['', 'null', '{}', '[]', '7', '{"pid":1}', '\u0000\u0000\u0000'])(
    'that holds %j belongs to nobody',
    async (content) => {
      const dataDir = damagedCopy(() => {});
      for (const name of readdirSync(dataDir)) if (/^lock/.test(name)) remove(join(dataDir, name));
      appendFileSync(join(dataDir, 'lock.7'), content);
      expect(await use(dataDir)).toBe(JOBS + 1);
    },
  );
});
