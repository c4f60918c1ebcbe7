import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '#src/db/migrate.js';
import { openDatabase } from '#src/db/open.js';
import { templateInfo } from '#src/db/template.js';
import { tempDir } from '../support/temp-dir.js';

async function openAndClose(dataDir: string): Promise<number> {
  const { db, lock } = await openDatabase({ dataDir, command: 'test' });
  const { rows } = await db.query<{ count: string }>('select count(*) from jobs');
  await db.close();
  lock!.release();
  return Number(rows[0]!.count);
}

function firstStart(dataDir: string) {
  const script = fileURLToPath(new URL('./first-start.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

describe('opening a data directory', () => {
  it('makes one, migrated, ignored by git, and keeps it', async () => {
    const dataDir = join(tempDir(), 'deep', '.jobq');
    const { db, lock } = await openDatabase({ dataDir, command: 'test' });
    expect(await migrate(db)).toEqual({ applied: [] });
    await db.query(`insert into jobs (kind, payload) values ('a', '{}')`);
    await db.close();
    lock!.release();
    expect(readFileSync(join(dataDir, '.gitignore'), 'utf8')).toBe('*\n');
    expect(readdirSync(dataDir).sort()).toEqual(['.gitignore', 'lock.1', 'pgdata']);
    expect(await openAndClose(dataDir)).toBe(1);
  });

  it('refuses a second one while it is open (pglite 1106)', async () => {
    const dataDir = tempDir();
    const { db, lock } = await openDatabase({ dataDir, command: 'jobq-dev' });
    await expect(openDatabase({ dataDir, command: 'test' })).rejects.toMatchObject({
      code: 'directory-locked',
      message: expect.stringContaining(`process ${process.pid} (jobq-dev), started 2`),
    });
    await db.query(`insert into jobs (kind, payload) values ('a', '{}')`);
    await db.close();
    lock!.release();
    expect(await openAndClose(dataDir)).toBe(1);
  });

  it('recovers from SIGKILL at any moment of the first start (aws-blocks 128)', async () => {
    // What the next start may find: a part of the extraction, a cluster that was never opened, and
    // one that was open.
    for (const moment of ['pgdata.new', 'pgdata', 'open']) {
      const dataDir = tempDir();
      const child = firstStart(dataDir);
      const exited = once(child, 'exit');
      const watcher = watch(dataDir, () => {
        if (existsSync(join(dataDir, moment))) child.kill('SIGKILL');
      });
      onTestFinished(() => watcher.close());
      // The last moment: it says that it is open.
      child.stdout.once('data', () => child.kill('SIGKILL'));
      await exited;
      watcher.close();
      expect(await openAndClose(dataDir), `killed at ${moment}`).toBe(0);
      expect(existsSync(join(dataDir, 'pgdata.new'))).toBe(false);
    }
  });

  it('starts over from half an extraction', async () => {
    const dataDir = tempDir();
    mkdirSync(join(dataDir, 'pgdata.new/base/1'), { recursive: true });
    writeFileSync(join(dataDir, 'pgdata.new/PG_VERSION'), '18\n');
    expect(await openAndClose(dataDir)).toBe(0);
  });

  it('keeps every acknowledged row through SIGKILL', async () => {
    const dataDir = tempDir();
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import { openDatabase } from '#src/db/open.js';
         const { db } = await openDatabase({ dataDir: ${JSON.stringify(dataDir)}, command: 'test' });
         for (let n = 1; ; n += 1) {
           await db.query("insert into jobs (kind, payload) values ('a', '{}')");
           process.stdout.write(n + '\\n');
         }`,
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
      },
    );
    onTestFinished(() => void child.kill('SIGKILL'));
    let text = '';
    for await (const chunk of child.stdout) {
      text += chunk;
      if (text.split('\n').length > 300) child.kill('SIGKILL');
    }
    const acknowledged = Number(text.split('\n').at(-2));
    expect(acknowledged).toBeGreaterThanOrEqual(300);
    expect(await openAndClose(dataDir)).toBeGreaterThanOrEqual(acknowledged);
  });

  it('explains a directory of another major', async () => {
    const dataDir = tempDir();
    await openAndClose(dataDir);
    const needed = templateInfo().major;
    writeFileSync(join(dataDir, 'pgdata/PG_VERSION'), '17\n');
    await expect(openDatabase({ dataDir, command: 'test' })).rejects.toMatchObject({
      code: 'directory-unusable',
      message: `${join(dataDir, 'pgdata')} was made by Postgres 17, and this jobq-dev brings Postgres ${needed}`,
      hint: expect.stringContaining('jobq-dev reset'),
    });
    // The refusal left no lock behind.
    writeFileSync(join(dataDir, 'pgdata/PG_VERSION'), `${needed}\n`);
    expect(await openAndClose(dataDir)).toBe(0);
  });

  it.each([
    ['no PG_VERSION', (pgdata: string) => rmSync(join(pgdata, 'PG_VERSION'))],
    ['no control file', (pgdata: string) => rmSync(join(pgdata, 'global/pg_control'))],
    ['a cut control file', (pgdata: string) => truncateSync(join(pgdata, 'global/pg_control'), 10)],
    ['no catalogs', (pgdata: string) => rmSync(join(pgdata, 'base'), { recursive: true })],
    ['no write-ahead log', (pgdata: string) => rmSync(join(pgdata, 'pg_wal'), { recursive: true })],
  ])('explains a damaged one: %s', async (_what, damage) => {
    const dataDir = tempDir();
    await openAndClose(dataDir);
    damage(join(dataDir, 'pgdata'));
    const error = await openDatabase({ dataDir, command: 'test' }).catch((reason) => reason);
    expect(error).toMatchObject({
      code: 'directory-unusable',
      message: expect.stringContaining(`the database in ${dataDir} is damaged`),
      hint: `jobq-dev reset --data-dir ${dataDir} sets a copy of it aside and starts afresh.`,
    });
    expect(error.message).not.toMatch(/Aborted\(|exit\(|UTC/);
    expect(error.message.split('\n')).toHaveLength(1);
  });

  it.each([
    ['/proc/jobq', 'ENOENT'],
    ['/sys/kernel/jobq', 'EPERM|EACCES|EROFS'],
  ])('names path and errno where it cannot write: %s', async (dataDir, errno) => {
    await expect(openDatabase({ dataDir, command: 'test' })).rejects.toMatchObject({
      code: 'directory-unusable',
      message: expect.stringMatching(new RegExp(`${dataDir} cannot be used: .+ \\((${errno})\\)`)),
    });
  });

  it('names path and errno where a file is in the way', async () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    await expect(openDatabase({ dataDir: file, command: 'test' })).rejects.toMatchObject({
      code: 'directory-unusable',
      message: expect.stringContaining(`${file} cannot be used: file already exists (EEXIST)`),
    });
    await expect(
      openDatabase({ dataDir: join(file, 'below'), command: 'test' }),
    ).rejects.toMatchObject({ message: expect.stringContaining('ENOTDIR') });
  });
});
