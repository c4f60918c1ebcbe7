/** Recording as a process: from a server, a local database and a running emulator, and back by replay. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jobq, scratch, startEmulator } from '../support/cli.js';
import { emptyDatabaseUrl, freshDatabaseUrl } from '../support/postgres.js';

describe('record', () => {
  let cwd: string;
  const run = (...args: string[]) => jobq(args, { cwd });
  const lines = (file: string) =>
    readFileSync(path.join(cwd, file), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  beforeEach(() => {
    cwd = scratch();
    mkdirSync(path.join(cwd, 'handlers'));
    for (const kind of ['a', 'b']) writeFileSync(path.join(cwd, 'handlers', `${kind}.sh`), 'true');
  });

  it('takes kinds, order and spacing from a production that only lets it read, and replays', async () => {
    const url = await freshDatabaseUrl();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    // More than a page of jobs, over ten minutes.
    await client.query(`
      insert into jobs (kind, payload, created_at, run_after)
      select case when n % 3 = 0 then 'b' else 'a' end, jsonb_build_object('n', n),
        '2026-01-01'::timestamptz + n * interval '250 milliseconds',
        '2026-01-01'::timestamptz + n * interval '250 milliseconds'
      from generate_series(1, 2500) as n`);
    await client.query(
      `create role reader login password 'reader'; grant select on jobs to reader`,
    );
    const readOnly = new URL(url);
    readOnly.username = 'reader';
    readOnly.password = 'reader';

    const recorded = await run('record', 'out.jsonl', '--database-url', readOnly.href, '--json');
    expect(recorded.stderr).toBe('');
    expect(JSON.parse(recorded.stdout)).toEqual({
      file: 'out.jsonl',
      jobs: 2500,
      lasts_ms: 624_750,
      redacted: 0,
      kinds: { a: 1667, b: 833 },
    });
    const found = lines('out.jsonl');
    expect(found.map(({ payload }) => payload.n)).toEqual(found.map((_, index) => index + 1));
    expect(found.map(({ at }) => Number.parseFloat(at))).toEqual(
      found.map((_, index) => index * 0.25),
    );
    expect(found.map(({ kind }) => kind).join('')).toMatch(/^(aab)+a$/);

    // A tenth of it, played.
    const part = await run('record', 'part.jsonl', '--database-url', url, '--sample', '0.02');
    expect(part.status).toBe(0);
    const { stdout, status } = await run('replay', 'part.jsonl', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ jobs: lines('part.jsonl').length, dead: 0 });
  });

  it('filters by time and kind, and redacts', async () => {
    const url = await freshDatabaseUrl();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`
      insert into jobs (kind, payload, created_at, run_after)
      select kind, payload::jsonb, at, at from (values
        ('a', '{"user": {"email": "x@y.z"}}', '2026-01-01'::timestamptz),
        ('a', '{"user": {"email": "x@y.z"}}', '2026-01-02'),
        ('b', '{}', '2026-01-02'), ('a', '{}', '2026-01-03')) as given (kind, payload, at)`);
    const { status, stderr } = await run(
      ...['record', 'out.jsonl', '--database-url', url, '--since', '2026-01-02T00:00:00Z'],
      ...['--until', '2026-01-03T00:00:00Z', '--kind', 'a', 'c'],
      ...['--redact', 'user.email', 'usr.name'],
    );
    expect(status).toBe(0);
    expect(stderr).toContain('warning: --redact "usr.name" met nothing');
    const email = expect.stringMatching(/^redacted-.*@example\.com$/);
    expect(lines('out.jsonl')).toEqual([{ at: '0s', kind: 'a', payload: { user: { email } } }]);
  });

  it('reads a local database by itself and through its emulator alike', async () => {
    await run('enqueue', 'a', '{"id":1970670598291982290}', '--count', '3');
    await run('enqueue', 'b', '--run-after', '1h', '--max-attempts', '7');
    expect((await run('record', 'alone.jsonl')).status).toBe(0);
    await startEmulator({ cwd }, '--cron', '0 0 1 1 *');
    expect((await run('record', 'through.jsonl', '--kind', 'a', 'b')).status).toBe(0);
    expect(readFileSync(path.join(cwd, 'through.jsonl'))).toEqual(
      readFileSync(path.join(cwd, 'alone.jsonl')),
    );
    expect(lines('through.jsonl')[3]).toMatchObject({ kind: 'b', max_attempts: 7 });
    expect(readFileSync(path.join(cwd, 'through.jsonl'), 'utf8')).toContain('1970670598291982290');
  });

  it('never writes over a file unasked, and leaves nothing of a recording that failed', async () => {
    writeFileSync(path.join(cwd, 'mine.jsonl'), 'mine');
    const refused = await run('record', 'mine.jsonl', '--memory');
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('--force') });
    expect(readFileSync(path.join(cwd, 'mine.jsonl'), 'utf8')).toBe('mine');

    const noTable = await run('record', 'none.jsonl', '--database-url', await emptyDatabaseUrl());
    expect(noTable).toMatchObject({ status: 3, stderr: expect.stringContaining('"jobs"') });
    expect(existsSync(path.join(cwd, 'none.jsonl'))).toBe(false);
    expect(readdirSync(cwd).filter((name) => name.endsWith('.tmp'))).toEqual([]);

    const nowhere = await run(
      'record',
      'no/such/dir.jsonl',
      '--database-url',
      await freshDatabaseUrl(),
    );
    expect(nowhere).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('no such file or directory'),
    });
  });
});
