import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#src/db/open.js';
import { openPglite } from '#src/db/pglite.js';
import { simpleQuery } from '#src/db/protocol.js';
import { extractTemplate, TEMPLATE_TAR } from '#src/db/template.js';
import { freshMemoryDatabase } from '../support/postgres.js';
import { tempDir } from '../support/temp-dir.js';

/** There is nothing to copy from: the engine ends itself (FATAL). */
const DEADLY = 'copy jobs from stdin';
const INSERT = `insert into jobs (kind, payload) values ('a', '{}')`;

async function openTemporary() {
  const { db, lock } = await openDatabase({ dataDir: join(tempDir(), '.jobq'), command: 'test' });
  onTestFinished(async () => {
    await db.close();
    lock!.release();
  });
  return db;
}

describe('a PGlite engine that dies', () => {
  it('fails what is under way, opens again, and has lost nothing acknowledged', async () => {
    const db = await openTemporary();
    await db.query(INSERT);
    const settled = await Promise.allSettled([db.query(DEADLY), db.query(INSERT), db.exec(INSERT)]);
    for (const result of settled) {
      const { reason } = result as PromiseRejectedResult;
      expect(reason).toMatchObject({
        code: 'database-unreachable',
        hint: expect.stringContaining('opens it again'),
      });
      expect(reason.message).toMatch(/^the database at .*pgdata stopped: terminating connection/);
    }
    expect((await db.query('select id from jobs')).rowCount).toBe(1);
    await db.query(INSERT);
    expect((await db.query('select id from jobs')).rowCount).toBe(2);
  });

  it('fails the rest of a transaction instead of running it outside of one', async () => {
    const db = await openTemporary();
    await expect(
      db.transaction(async (tx) => {
        await tx.query(INSERT);
        await tx.query(DEADLY).catch(() => {});
        await tx.query(INSERT);
      }),
    ).rejects.toMatchObject({ code: 'database-unreachable' });
    expect((await db.query('select id from jobs')).rowCount).toBe(0);
  });

  it('is noticed when it runs out of stack, which PGlite would hide', async () => {
    // Which limit is met first depends on the tier that V8 has compiled the engine with by then:
    // the engine's own, an ordinary error, or the thread's, which ends the engine.
    const db = await openTemporary();
    await db.exec(`create function f(n int) returns int language plpgsql
                   as $$ begin return f(n + 1); end $$`);
    const error = await db.query('select f(1)').then(
      () => undefined,
      (reason: { code?: string; sqlstate?: string }) => reason.code ?? reason.sqlstate,
    );
    expect(['database-unreachable', '54001']).toContain(error);
    expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('has told why by the time that its thread is gone, also to one that was busy meanwhile', async () => {
    const dataDir = join(tempDir(), 'pgdata');
    extractTemplate(dataDir);
    rmSync(join(dataDir, 'global/pg_control'));
    const threads = () => readdirSync('/proc/self/task').length;
    // Those that read files are there from now on.
    await readFile('/dev/null');
    const before = threads();
    const opening = openPglite({ dataDir });
    expect(threads()).toBeGreaterThan(before);
    while (threads() > before);
    await expect(opening).rejects.toMatchObject({
      code: 'directory-unusable',
      message: expect.stringContaining('pg_control'),
    });
  });

  it('is not replaced by an empty one in memory', async () => {
    const db = await freshMemoryDatabase();
    await db.query(INSERT);
    await expect(db.query(DEADLY)).rejects.toMatchObject({
      hint: expect.stringContaining('What was in memory is gone'),
    });
    await expect(db.query('select 1')).rejects.toMatchObject({ code: 'database-unreachable' });
    await db.close();
  });
});

describe('PGlite beside the rest of the process', () => {
  it('leaves the event loop running', async () => {
    const db = await freshMemoryDatabase();
    const asleep = db.query('select pg_sleep(0.5)').then(() => 'slept');
    await new Promise((turn) => setImmediate(turn));
    expect(await Promise.race([asleep, 'still asleep'])).toBe('still asleep');
    expect(await asleep).toBe('slept');
    await db.close();
  });

  it('keeps neither the process nor its exit status (pglite 0.5.5)', async () => {
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import { openDatabase } from '#src/db/open.js';
         const { db } = await openDatabase({ memory: true, command: 'test' });
         process.exitCode = 7;
         await db.query('select nope').catch(() => {});
         await db.close();`,
      ],
      { stdio: 'inherit', cwd: fileURLToPath(new URL('../..', import.meta.url)) },
    );
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  it('lends its session to another protocol server, whole', async () => {
    const db = await openPglite({ dataDir: 'memory', templatePath: TEMPLATE_TAR });
    const guest = {
      tidy: false,
      left: 0,
      async leave() {
        guest.left += 1;
      },
    };
    const held = db.exclusive(guest, async (raw) => {
      await raw.send(simpleQuery('begin'));
      await raw.send(simpleQuery(INSERT));
      return Buffer.from(await raw.send(simpleQuery('select count(*) from jobs'))).toString(
        'latin1',
      );
    });
    const after = db.query('select id from jobs');
    expect(await held).toContain('SELECT 1');
    // The transaction was left open and is undone; nobody else's statement got into it.
    expect((await after).rowCount).toBe(0);
    // It was asked to tidy up before that statement, and is before any later one.
    expect(guest.left).toBe(1);
    await db.exclusive(guest, async () => {});
    expect(guest.left).toBe(1);
    await db.query('select 1');
    expect(guest.left).toBe(2);
    await db.query('select 1');
    expect(guest.left).toBe(2);
    await db.close();
  });
});

describe('PGlite over time', () => {
  it('keeps its write-ahead log small', async () => {
    const db = await freshMemoryDatabase();
    await db.query(
      `insert into jobs (kind, payload) select 'a', '{}' from generate_series(1, 20000)`,
    );
    // About 20 MB of log each.
    for (let n = 0; n < 6; n += 1) await db.query('update jobs set last_error = $1', [`${n}`]);
    const { rows } = await db.query<{ bytes: string; written: string }>(
      `select sum(size) as bytes, pg_current_wal_lsn() - '0/0' as written from pg_ls_waldir()`,
    );
    expect(Number(rows[0]!.written)).toBeGreaterThan(60e6);
    expect(Number(rows[0]!.bytes)).toBeLessThan(40e6);
    await db.close();
  });

  it('vacuums what has changed enough, and only that', async () => {
    const db = await freshMemoryDatabase();
    const vacuumed = async () =>
      (
        await db.query<{ vacuum_count: string }>(
          `select vacuum_count from pg_stat_user_tables where relname = 'jobs'`,
        )
      ).rows[0]!.vacuum_count;
    const before = Number(await vacuumed());
    await db.query(
      `insert into jobs (kind, payload) select 'a', '{}' from generate_series(1, 999)`,
    );
    await db.maintain();
    expect(Number(await vacuumed())).toBe(before);
    await db.query(`insert into jobs (kind, payload) select 'a', '{}' from generate_series(1, 5)`);
    await db.maintain();
    expect(Number(await vacuumed())).toBe(before + 1);
    await db.maintain();
    expect(Number(await vacuumed())).toBe(before + 1);
    await db.close();
  });

  it('vacuums 10,000 dead rows of any table', async () => {
    const db = await freshMemoryDatabase();
    await db.exec(
      `insert into jobs (kind, payload) select 'a', '{}' from generate_series(1, 60000)`,
    );
    // Counts that wait to be reported would come on top of what the vacuum sets to zero.
    await db.query('select pg_stat_force_next_flush()');
    await db.exec('vacuum analyze jobs');
    const dead = async () =>
      (
        await db.query<{ dead: number }>(
          `select n_dead_tup::float8 as dead from pg_stat_user_tables where relname = 'jobs'`,
        )
      ).rows[0]!.dead;
    await db.exec('update jobs set attempts = 1 where id < 10000');
    await db.maintain();
    expect(await dead()).toBe(9_999);
    await db.exec('delete from jobs where id = 50000');
    await db.maintain();
    expect(await dead()).toBe(0);
    await db.close();
  });

  it('leaves no dead entries in the indexes, though they are of few pages', async () => {
    const db = await freshMemoryDatabase();
    // Sixty rows a page, and then four: so few dead pages a vacuum by itself would leave.
    await db.exec(
      `insert into jobs (kind, payload) select 'a', '{}' from generate_series(1, 2500)`,
    );
    await db.exec(`insert into jobs (kind, payload, last_error)
      select 'a', '{}', repeat('x', 1700) from generate_series(1, 10000)`);
    await db.exec('vacuum jobs');
    await db.exec('delete from jobs where id <= 2500');
    await db.maintain();
    const read = async () => {
      await db.query('select pg_stat_force_next_flush()');
      const { rows } = await db.query<{ read: number }>(
        `select idx_tup_read::float8 as read from pg_stat_user_indexes
         where indexrelname = 'jobs_pkey'`,
      );
      return rows[0]!.read;
    };
    const before = await read();
    await db.query('select id from jobs order by id limit 1');
    expect((await read()) - before).toBe(1);
    await db.close();
  });
});
