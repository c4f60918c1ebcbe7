/** Commands without an emulator: what scripts rely on (docs/cli.md). */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { jobq, scratch } from '../support/cli.js';

/** ESC and the C1 controls: what would paint on a terminal. */
const CONTROL = /[\u001b\u0080-\u009f]/;

describe('the command line', () => {
  let cwd: string;
  const run = (...args: string[]) => jobq(args, { cwd });
  const json = async (...args: string[]) => {
    const { stdout, stderr } = await run(...args, '--json');
    expect(stdout.endsWith('\n'), stderr).toBe(true);
    return JSON.parse(stdout);
  };

  beforeEach(() => {
    cwd = scratch();
  });

  it('carries a job from init to a report of its run', async () => {
    const init = await run('init');
    expect(init.status).toBe(0);
    expect(init.stdout).toContain('created handlers/hello.py');

    expect(await json('enqueue', 'hello', '{"name":"Ada"}')).toEqual({ id: '1' });
    expect(await json('enqueue', 'hash', '{"text":"x"}', '--count', '3')).toEqual({
      ids: ['2', '3', '4'],
    });
    expect(await json('stats')).toMatchObject({
      counts: { pending: 4, running: 0, done: 0, dead: 0 },
      oldest_waiting_ms: expect.any(Number),
    });
    expect(await json('drain')).toEqual({ claimed: 4, done: 4, retried: 0, dead: 0, reaped: 0 });
    const [newest] = await json('jobs', 'list', '--limit', '1');
    expect(newest).toMatchObject({ id: '4', kind: 'hash', status: 'done', attempts: 1 });
    const shown = await json('jobs', 'show', '1');
    expect(shown.attempts_log).toMatchObject([
      { attempt: 1, outcome: 'exited', exit_code: 0, provider: 'process', isolation: 'none' },
    ]);
    expect((await run('jobs', 'logs', '1')).stdout).toContain('Ada');
    expect((await run('jobs', 'explain', '1')).stdout).toContain('It is done');
  });

  it('overwrites nothing at init', async () => {
    mkdirSync(path.join(cwd, 'handlers'));
    writeFileSync(path.join(cwd, 'handlers/hello.py'), 'mine');
    const { status, stdout } = await run('init');
    expect(status).toBe(0);
    expect(stdout).toContain('kept    handlers/hello.py');
    expect(readFileSync(path.join(cwd, 'handlers/hello.py'), 'utf8')).toBe('mine');
    expect(existsSync(path.join(cwd, 'handlers/hash.mjs'))).toBe(true);
  });

  it('keeps every digit of a payload from the command line to the handler', async () => {
    mkdirSync(path.join(cwd, 'handlers'));
    writeFileSync(path.join(cwd, 'handlers/echo.sh'), 'cat "$1"');
    await run('enqueue', 'echo', '{"id":1970670598291982290,"n":1.10}');
    await run('drain');
    const logs = await json('jobs', 'logs', '1');
    expect(logs[0].stdout).toBe('{"n": 1.10, "id": 1970670598291982290}');
    const { stdout } = await run('jobs', 'show', '1', '--json');
    expect(stdout).toContain('1970670598291982290');
  });

  it('exits with 1 when a job died, and says how to run it again', async () => {
    mkdirSync(path.join(cwd, 'handlers'));
    writeFileSync(path.join(cwd, 'handlers/bad.sh'), 'echo "no such account" >&2; exit 3');
    await run('enqueue', 'bad', '--max-attempts', '1');
    const drained = await run('drain');
    expect(drained.status).toBe(1);
    expect(drained.stdout).toContain('no such account');
    const explained = await run('jobs', 'explain', '1');
    expect(explained.stdout).toContain('jobq-dev jobs retry 1');
    expect(await json('jobs', 'retry', '1')).toMatchObject({ status: 'pending', attempts: 0 });
    expect(await json('jobs', 'cancel', '1')).toMatchObject({ status: 'dead' });
    expect(await json('jobs', 'edit', '1', '--payload', '{"n":2}')).toMatchObject({
      id: '2',
      parent_id: '1',
      payload: { n: 2 },
    });
    expect(await json('jobs', 'retry', '--all')).toEqual({ retried: 1 });
  });

  it.each([
    [['enqueue', 'x', '{"a":'], 2, /the payload is not JSON: line 1, column 6: the JSON ends/],
    [['enqueue', 'x', '--run-after', 'soon'], 2, /--run-after is "soon"/],
    [['enqueue', 'x', '--count', '0'], 2, /--count is "0"/],
    [['enqueue', 'x', '{}', '--file', 'f'], 2, /both PAYLOAD and --file/],
    [['enqueue', 'x', '--file', 'none.json'], 2, /none\.json: ENOENT/],
    [['jobs', 'show', '7'], 1, /there is no job "7"/],
    [['jobs', 'list', '--status', 'ded'], 2, /ded/],
    [['jobs', 'shwo'], 2, /unknown command "shwo", did you mean "show"/],
    [['stat'], 2, /unknown command "stat", did you mean "stats"/],
    [['--concurency', '4'], 2, /unknown option '--concurency'[\s\S]*--concurrency/],
    [['drain', '--concurrency', 'many'], 2, /--concurrency is "many"/],
    [['drain', '--cron', '99 * * * *'], 2, /cron schedule "99 \* \* \* \*"/],
    [['drain', '--timezone', 'Mars/Base'], 2, /no time zone "Mars\/Base"/],
    [['drain', '--sandbox', 'proces'], 2, /--sandbox is "proces".*did you mean "process"/],
    [['drain', '--sandbox', 'qemu'], 3, /qemu/],
    [['drain', '--config', 'nope.json'], 2, /no configuration file .*nope\.json/],
    [['reset'], 2, /no terminal to ask on/],
    [['migrate', '--database-url', 'postgres://u:secret@127.0.0.1:1/x'], 3, /127\.0\.0\.1:1/],
    [['replay', 'missing.jsonl'], 2, /missing\.jsonl: ENOENT/],
  ])('%j ends with %i and says what is wrong and what to do', async (args, status, message) => {
    const finished = await run(...args);
    expect(finished.stderr).toMatch(message);
    expect(finished.status).toBe(status);
    expect(finished.stderr).not.toMatch(/\n\s+at |secret/);
    expect(finished.stdout + finished.stderr).not.toMatch(CONTROL);
  });

  it('names a misspelt configuration key, its file and the right one', async () => {
    writeFileSync(path.join(cwd, 'jobq.config.json'), '{"concurency": 2}');
    const { status, stderr } = await run('stats');
    expect(status).toBe(2);
    expect(stderr).toMatch(/"concurency" in .*jobq\.config\.json, did you mean "concurrency"/);
  });

  it('answers an error under --json with one document', async () => {
    const { status, stdout } = await run('jobs', 'show', '7', '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'not-found' } });
  });

  it('warns about an environment variable that is nearly a setting', async () => {
    const { stderr } = await jobq(['stats', '--memory'], { cwd, env: { JOBQ_CONCURENCY: '2' } });
    expect(stderr).toMatch(/JOBQ_CONCURENCY.*did you mean "JOBQ_CONCURRENCY"/);
  });

  it('says which file cannot be made on a disk that cannot be written', async () => {
    writeFileSync(path.join(cwd, 'file'), '');
    const { status, stderr } = await run('enqueue', 'x', '--data-dir', 'file/.jobq');
    expect(status).toBe(3);
    expect(stderr).toMatch(/ENOTDIR/);
  });

  it('resets after being told to, and sets a copy aside', async () => {
    await run('enqueue', 'x');
    expect((await run('reset', '--yes')).status).toBe(0);
    expect((await json('stats')).counts.pending).toBe(0);
    expect(existsSync(path.join(cwd, '.jobq/before-reset/pgdata/PG_VERSION'))).toBe(true);
  });

  it('hides its own directory from git', async () => {
    await run('stats');
    expect(readFileSync(path.join(cwd, '.jobq/.gitignore'), 'utf8')).toBe('*\n');
  });

  it('doctor finds a handler whose interpreter is missing', async () => {
    mkdirSync(path.join(cwd, 'handlers'));
    writeFileSync(path.join(cwd, 'handlers/old.py'), '');
    writeFileSync(
      path.join(cwd, 'jobq.config.json'),
      '{"interpreters": {".py": ["python-of-old"]}}',
    );
    const { status, stdout } = await run('doctor');
    expect(status).toBe(3);
    expect(stdout).toMatch(/bad +handler old: python-of-old/);
  });

  it('prints the migrations', async () => {
    const { stdout } = await run('migrate', '--print');
    expect(stdout).toMatch(/-- 0001_jobs/);
    expect(stdout).toMatch(/create table/i);
  });

  it('lets two commands at once both finish: the second waits for the first', async () => {
    const results = await Promise.all([1, 2, 3].map(() => run('enqueue', 'x', '--json')));
    expect(results.map(({ status }) => status)).toEqual([0, 0, 0]);
    expect((await json('stats')).counts.pending).toBe(3);
  });
});
