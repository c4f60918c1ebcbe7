/** What commands answer, and what scripts rely on (docs/cli.md). */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  jobq,
  type Running,
  scratch,
  scratchFolder,
  start,
  startEmulator,
} from '../support/cli.js';

/** ESC and the C1 controls: what would paint on a terminal. */
const CONTROL = /[\u001b\u0080-\u009f]/;

const runner = (cwd: string) => {
  const run = (...args: string[]) => jobq(args, { cwd });
  const json = async (...args: string[]) => {
    const { stdout, stderr } = await run(...args, '--json');
    expect(stdout.endsWith('\n'), stderr).toBe(true);
    return JSON.parse(stdout);
  };
  const handler = (name: string, text: string) => {
    mkdirSync(path.join(cwd, 'handlers'), { recursive: true });
    writeFileSync(path.join(cwd, 'handlers', name), text);
  };
  return { run, json, handler };
};

describe('commands through the emulator', () => {
  const folder = scratchFolder();
  const { run, json, handler } = runner(folder.dir);
  let emulator: Running;

  beforeAll(async () => {
    handler('echo.sh', 'cat "$1"');
    handler('bad.sh', 'echo "no such account" >&2; exit 3');
    // No tick by itself: what runs here runs because a command says so.
    emulator = await startEmulator({ cwd: folder.dir }, '--cron', '0 0 1 1 *');
  });
  afterAll(async () => {
    emulator.child.kill('SIGINT');
    await emulator.ended;
    folder.remove();
  });

  it('insert, drain, list, show, and keep every digit', async () => {
    const payload = '{"id":1970670598291982290,"n":1.10}';
    expect(await json('enqueue', 'echo', payload)).toEqual({ id: '1' });
    expect(await json('enqueue', 'echo', '--count', '3')).toEqual({ ids: ['2', '3', '4'] });
    expect(await json('stats')).toMatchObject({
      counts: { pending: 4, running: 0, done: 0, dead: 0 },
      oldest_waiting_ms: expect.any(Number),
    });
    expect(await json('drain')).toEqual({ claimed: 4, done: 4, retried: 0, dead: 0, reaped: 0 });
    const [newest] = await json('jobs', 'list', '--limit', '1');
    expect(newest).toMatchObject({ id: '4', kind: 'echo', status: 'done', attempts: 1 });
    const shown = await run('jobs', 'show', '1', '--json');
    expect(shown.stdout).toContain('1970670598291982290');
    expect(JSON.parse(shown.stdout).attempts_log).toMatchObject([
      { attempt: 1, outcome: 'exited', exit_code: 0, provider: 'process', isolation: 'none' },
    ]);
    const [log] = await json('jobs', 'logs', '1');
    expect(log.stdout).toBe('{"n": 1.10, "id": 1970670598291982290}');
    expect((await run('jobs', 'explain', '1')).stdout).toContain('It is done');
  });

  it('prune what is done through the emulator, by its settings and by flags', async () => {
    await json('enqueue', 'echo', '--count', '3');
    await json('drain');
    const { counts } = await json('stats');
    expect(await json('prune')).toEqual({ pruned: 0, dry_run: false });
    const would = await run('prune', '--keep-jobs', '2', '--dry-run');
    expect(would.stdout).toBe(
      `would delete ${counts.done - 2} done jobs; kept are those that finished in the last 7 d and are the newest 2\n`,
    );
    expect(await json('prune', '--keep-jobs', '2')).toEqual({
      pruned: counts.done - 2,
      dry_run: false,
    });
    expect((await json('stats')).counts.done).toBe(2);
    expect(readdirSync(path.join(folder.dir, '.jobq/output'))).toHaveLength(2);
  });

  it('exit with 1 when a job died, and say how to run it again', async () => {
    const { id } = await json('enqueue', 'bad', '--max-attempts', '1');
    const drained = await run('drain');
    expect(drained.status).toBe(1);
    expect((await run('jobs', 'show', id)).stdout).toContain('no such account');
    expect((await run('jobs', 'explain', id)).stdout).toContain(`jobq-dev jobs retry ${id}`);
    expect(await json('jobs', 'retry', id)).toMatchObject({ status: 'pending', attempts: 0 });
    expect(await json('jobs', 'cancel', id)).toMatchObject({ status: 'dead' });
    const copy = await json('jobs', 'edit', id, '--payload', '{"n":2}', '--run-after', '1h');
    expect(copy).toMatchObject({ parent_id: id, payload: { n: 2 }, status: 'pending' });
    expect((await run('jobs', 'explain', copy.id)).stdout).toMatch(/not due yet: .*59 min|1 h/);
    expect(await json('jobs', 'retry', '--all')).toEqual({ retried: 1 });
  });

  it('page and search the list, and show the family of an edited job', async () => {
    const [first] = (await json('enqueue', 'find-me', '--count', '3')).ids as string[];
    const page = await run('jobs', 'list', '--kind', 'find-me', '--order', 'next', '--limit', '2');
    const [, cursor] = /there are more: add --before (\S+)/.exec(page.stderr)!;
    const last = await json(
      ...'jobs list --text FIND-ME --order next --before'.split(' '),
      cursor!,
    );
    expect(last).toMatchObject([{ id: String(Number(first) + 2) }]);
    await run('jobs', 'cancel', first!);
    const copy = await json('jobs', 'edit', first!, '--payload', '7');
    expect(await json('jobs', 'lineage', copy.id)).toMatchObject([
      { id: first, parent_id: null, status: 'dead' },
      { id: copy.id, parent_id: first, status: 'pending' },
    ]);
    for (const id of [1, 2]) await run('jobs', 'cancel', String(Number(first) + id));
    await run('jobs', 'cancel', copy.id);
  });

  it('follow what a job writes until it is over', async () => {
    handler(
      'talk.sh',
      'printf "one\\033[2J\\n"; while [ ! -e "$0.go" ]; do sleep 0.1; done; echo two',
    );
    const { id } = await json('enqueue', 'talk');
    const following = start(['jobs', 'logs', id, '--follow'], { cwd: folder.dir });
    const drained = json('drain');
    await following.seen(/^one\\x1b\[2J$/m);
    handler('talk.sh.go', '');
    const { status, stdout } = await following.ended;
    expect(status).toBe(0);
    expect(stdout).toMatch(
      // What had been written when the reader came stands under the name of its stream.
      /^── attempt 1: running in process \(isolation: none\)\n(── stdout\n)?one.*\ntwo\n── done after .*\n$/,
    );
    expect(await drained).toMatchObject({ done: 1 });
    expect((await run('jobs', 'logs', '999', '--follow')).status).toBe(1);
  });

  it('take a payload from a file and from stdin', async () => {
    writeFileSync(path.join(folder.dir, 'payload.json'), '{"from":"file"}');
    const { id } = await json('enqueue', 'echo', '--file', 'payload.json');
    expect((await json('jobs', 'show', id)).payload).toEqual({ from: 'file' });
    const piped = await jobq(['enqueue', 'echo', '-', '--json'], {
      cwd: folder.dir,
      input: '{"from":"stdin"}\n',
    });
    const { id: second } = JSON.parse(piped.stdout);
    expect((await json('jobs', 'show', second)).payload).toEqual({ from: 'stdin' });
  });

  it('show a kind that would paint over the screen escaped', async () => {
    const kind = '\u001b[2J\u202eevil\nline';
    const { stdout, stderr } = await run('enqueue', kind);
    const listed = await run('jobs', 'list');
    expect(listed.stdout).toContain('\\x1b[2J\\u202eevil\\nline');
    expect(stdout + stderr + listed.stdout).not.toMatch(/[\u001b\u202e]/);
  });

  it('show a kind of any length so that the rest of its line can be read', async () => {
    const { stdout } = await run('enqueue', 'k'.repeat(5_000));
    expect(stdout).toMatch(/^job \d+ k{99}… is in the table/);
    const listed = await run('jobs', 'list', '--limit', '2');
    expect(listed.stdout.split('\n')[1]).toMatch(/^\d+ +k{99}… +pending/);
  });

  it('answer an error under --json with one document', async () => {
    const { status, stdout } = await run('jobs', 'show', '777', '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'not-found' } });
  });
});

describe('commands without an emulator', () => {
  let cwd: string;
  let run: ReturnType<typeof runner>['run'];
  let json: ReturnType<typeof runner>['json'];
  let handler: ReturnType<typeof runner>['handler'];

  beforeEach(() => {
    cwd = scratch();
    ({ run, json, handler } = runner(cwd));
  });

  it('open the directory themselves, and hide it from git', async () => {
    const init = await run('init');
    expect(init.status).toBe(0);
    expect(init.stdout).toContain('created handlers/hello.py');
    expect(await json('enqueue', 'hello', '{"name":"Ada"}')).toEqual({ id: '1' });
    const drained = await run('drain');
    expect(drained.stdout).toMatch(/claim +job 1 hello, attempt 1 of 3\n.* done +job 1 hello in/);
    expect(drained.status).toBe(0);
    expect((await run('jobs', 'logs', '1')).stdout).toContain('Ada');
    expect(readFileSync(path.join(cwd, '.jobq/.gitignore'), 'utf8')).toBe('*\n');
    expect((await run('reset', '--yes')).status).toBe(0);
    expect(existsSync(path.join(cwd, '.jobq/before-reset/pgdata/PG_VERSION'))).toBe(true);
    expect((await json('stats')).counts.done).toBe(0);
  });

  it('overwrite nothing at init', async () => {
    handler('hello.py', 'mine');
    const { status, stdout } = await run('init');
    expect(status).toBe(0);
    expect(stdout).toContain('kept    handlers/hello.py');
    expect(readFileSync(path.join(cwd, 'handlers/hello.py'), 'utf8')).toBe('mine');
    expect(existsSync(path.join(cwd, 'handlers/hash.mjs'))).toBe(true);
  });

  it('wait for each other when they come at once', async () => {
    const results = await Promise.all([1, 2, 3].map(() => run('enqueue', 'x', '--json')));
    expect(results.map(({ status }) => status)).toEqual([0, 0, 0]);
    expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(3);
  });

  it.each([
    [['enqueue', 'x', '{"a":'], 2, /the payload is not JSON: line 1, column 6: the JSON ends/],
    [['enqueue', 'x', '--run-after', 'soon'], 2, /--run-after is "soon"/],
    [['enqueue', 'x', '--count', '0'], 2, /--count is "0"/],
    [['enqueue', 'x', '{}', '--file', 'f'], 2, /both PAYLOAD and --file/],
    [
      ['enqueue', 'x', '--file', 'none.json'],
      2,
      /none\.json: no such file or directory \(ENOENT\)/,
    ],
    [['enqueue'], 2, /missing required argument 'kind'\n {2}The --help/],
    [['enqueue', 'x', ''], 2, /the payload is empty/],
    [['enqueue', 'x', '{}', 'more'], 2, /too many arguments/],
    [['stats', 'more'], 2, /too many arguments/],
    [['drain', '--memory'], 2, /the handlers directory .* does not exist/],
    [['--port', '0', '--handlers', 'nope'], 2, /the handlers directory .*nope does not exist/],
    [['jobs', 'retry', '1', '--kind', 'x', '--memory'], 2, /--kind has no meaning with an id/],
    [['replay', 'x.jsonl', '--speed', '3'], 2, /--speed has no meaning without --live/],
    [['replay', 'x.jsonl', '--live', '--timing', 'measured'], 2, /--timing has no meaning with/],
    [['jobs', 'list', '--status', 'ded'], 2, /ded/],
    [['jobs', 'shwo'], 2, /unknown command "shwo", did you mean "show"/],
    [['stat'], 2, /unknown command "stat", did you mean "stats"/],
    [['--concurency', '4'], 2, /unknown option '--concurency'[\s\S]*--concurrency/],
    [['drain', '--concurrency', 'many'], 2, /--concurrency is "many"/],
    [['drain', '--cron', '99 * * * *'], 2, /cron schedule "99 \* \* \* \*"/],
    [['drain', '--timezone', 'Mars/Base'], 2, /no time zone "Mars\/Base"/],
    [['drain', '--sandbox', 'proces'], 2, /--sandbox is "proces".*did you mean "process"/],
    [['drain', '--memory', '--sandbox', 'pandastack'], 3, /PANDASTACK_API_KEY/],
    [['drain', '--config', 'nope.json'], 2, /no configuration file .*nope\.json/],
    [['reset'], 2, /no terminal to ask on/],
    [['prune', '--database-url', 'postgres://u@127.0.0.1:1/x'], 2, /keeps all its jobs unless/],
    [['prune', '--keep', 'long'], 2, /--keep is "long"/],
    [['migrate', '--database-url', 'postgres://u:secret@127.0.0.1:1/x'], 3, /127\.0\.0\.1:1/],
    [['replay', 'missing.jsonl'], 2, /missing\.jsonl: no such file or directory \(ENOENT\)/],
    [['enqueue', 'x', '--data-dir', '/dev/null/x'], 3, /\/dev\/null/],
  ])('%j ends with %i and says what is wrong and what to do', async (args, status, message) => {
    const finished = await run(...args);
    expect(finished.stderr).toMatch(message);
    expect(finished.status).toBe(status);
    expect(finished.stderr).not.toMatch(/\n\s+at |secret/);
    expect(finished.stdout + finished.stderr).not.toMatch(CONTROL);
  });

  it('name a misspelt configuration key, its file and the right one', async () => {
    writeFileSync(path.join(cwd, 'jobq.config.json'), '{"concurency": 2}');
    const { status, stderr } = await run('stats');
    expect(status).toBe(2);
    expect(stderr).toMatch(/"concurency" in .*jobq\.config\.json, did you mean "concurrency"/);
  });

  it('warn about an environment variable that is nearly a setting', async () => {
    const { stderr } = await jobq(['doctor', '--memory'], { cwd, env: { JOBQ_CONCURENCY: '2' } });
    expect(stderr).toMatch(/JOBQ_CONCURENCY.*did you mean "JOBQ_CONCURRENCY"/);
  });

  it('find a handler whose interpreter is missing (doctor)', async () => {
    handler('old.py', '');
    writeFileSync(
      path.join(cwd, 'jobq.config.json'),
      '{"interpreters": {".py": ["python-of-old"]}}',
    );
    const { status, stdout } = await run('doctor');
    expect(status).toBe(3);
    expect(stdout).toMatch(/bad +handler old: python-of-old/);
  });

  it('print the migrations', async () => {
    const { stdout } = await run('migrate', '--print');
    expect(stdout).toMatch(/-- 0001_jobs/);
    expect(stdout).toMatch(/create table/i);
  });
});
