/** Replay as a process: the report, its repeatability, and the burst that ships. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { jobq, scratch, start, startEmulator, until } from '../support/cli.js';

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));

describe('replay', () => {
  let cwd: string;
  const run = (...args: string[]) => jobq(args, { cwd });
  const file = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  };

  beforeEach(() => {
    cwd = scratch();
    file('handlers/ok.sh', 'echo fine');
    file(
      'handlers/flaky.sh',
      '[ "$JOBQ_ATTEMPT" -ge 3 ] || { echo "try $JOBQ_ATTEMPT" >&2; exit 1; }',
    );
    file('handlers/bad.sh', 'echo "no such account" >&2; exit 1');
  });

  const BURST = [
    '{"at":"0s","kind":"ok","payload":{}}',
    '{"at":"0s","kind":"flaky","payload":{}}',
    '{"at":"10s","kind":"ok","payload":{},"count":3,"run_after":"2h"}',
    '{"at":"90s","kind":"bad","payload":{},"max_attempts":2,"expect":{"status":"dead","attempts":2,"error":"no such"}}',
    '',
  ].join('\n');

  it('plays a burst through ticks, retries and long waits, and skips the waits', async () => {
    file('burst.jsonl', BURST);
    const { status, stdout } = await run('replay', 'burst.jsonl', '--json');
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      fixture: 'burst.jsonl',
      jobs: 6,
      done: 5,
      dead: 1,
      pending: 0,
      running: 0,
      attempts: 9,
      retries: 3,
      reaped: 0,
      expectations: { checked: 1, met: 1 },
      failures: [],
    });
    expect(report.kinds.ok).toMatchObject({ jobs: 4, done: 4, retries: 0 });
    // The burst starts just after a tick: what arrives at 0 s waits a whole minute.
    expect(report.pickup_ms.max).toBe(60_000);
    expect(report.virtual_ms).toBe(2 * 3_600_000);
    expect(report.wall_ms).toBeLessThan(report.virtual_ms / 10);
    expect(report.errors).toContainEqual({
      kind: 'bad',
      error: 'no such account',
      times: 2,
      fatal: true,
    });
    expect(status).toBe(0);
  });

  it('gives the same counts and virtual times every time', async () => {
    file('burst.jsonl', BURST);
    const reports = [];
    for (const concurrency of ['1', '4']) {
      const { stdout } = await run('replay', 'burst.jsonl', '--json', '--concurrency', concurrency);
      const { wall_ms, sandbox_ms, kinds, ...same } = JSON.parse(stdout);
      for (const kind of Object.values<Record<string, unknown>>(kinds)) delete kind.sandbox_ms;
      expect(wall_ms + sandbox_ms).toBeGreaterThan(0);
      reports.push({ ...same, kinds });
    }
    expect(reports[0]).toEqual(reports[1]);
  });

  it('fails for a death that nobody expected, and for an expectation that is not met', async () => {
    file(
      'burst.jsonl',
      `{"at":"0s","kind":"bad","payload":{},"max_attempts":1}
{"at":"0s","kind":"ok","payload":{},"expect":{"status":"dead","stdout":"good"}}
`,
    );
    const { status, stdout } = await run('replay', 'burst.jsonl', '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout).failures).toEqual([
      expect.objectContaining({ line: 1, kind: 'bad', status: 'dead', error: 'no such account' }),
      expect.objectContaining({ line: 2, expected: { status: 'dead', stdout: 'good' } }),
    ]);
    const { stdout: text } = await run('replay', 'burst.jsonl');
    expect(text).toContain('Failed: 2 jobs did not end as they should.');
    expect(text).toContain('line 1, job 1 bad: dead after 1 attempt: no such account');
  });

  it('refuses a bad line with file, line and column before anything runs', async () => {
    file('handlers/ok.sh', `touch ${cwd}/ran`);
    file(
      'burst.jsonl',
      '{"at":"0s","kind":"ok","payload":{}}\n{"at":"0s","kimd":"ok","payload":{}}\n',
    );
    const { status, stderr } = await run('replay', 'burst.jsonl');
    expect(status).toBe(2);
    expect(stderr).toMatch(/burst\.jsonl:2:\d+: .*"kimd", did you mean "kind"/);
    expect(() => readFileSync(path.join(cwd, 'ran'))).toThrow();
  });

  it('stops on Ctrl-C and leaves nothing behind', async () => {
    file('handlers/slow.sh', 'echo here >&2; sleep 1000');
    file('burst.jsonl', '{"at":"0s","kind":"slow","payload":{}}\n');
    const replay = start(['replay', 'burst.jsonl', '--output-dir', 'out', '--json'], { cwd });
    await until(() => existsSync(path.join(cwd, 'out/1')));
    replay.child.kill('SIGINT');
    const { status, stdout } = await replay.ended;
    expect(status).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ interrupted: true, done: 0, pending: 1 });
    expect(existsSync(path.join(cwd, '.jobq/replay'))).toBe(false);
  });

  it('sends a burst to the running emulator with --live, and to nobody without one', async () => {
    file('burst.jsonl', '{"at":"0s","kind":"ok","payload":{"n":1970670598291982290},"count":2}\n');
    const alone = await run('replay', 'burst.jsonl', '--live');
    expect(alone.status).toBe(3);
    expect(alone.stderr).toContain('no emulator is running');
    const emulator = await startEmulator({ cwd }, '--cron', '* * * * * *');
    const { stdout } = await run('replay', 'burst.jsonl', '--live');
    expect(stdout).toContain('2 jobs sent to http');
    await emulator.seen(/done +job 2 ok/);
    expect((await run('jobs', 'show', '1', '--json')).stdout).toContain('1970670598291982290');
  });

  it('plays the burst that ships as its lines expect', { timeout: 240_000 }, async () => {
    const output = path.join(cwd, 'out');
    const { status, stdout, stderr } = await run(
      'replay',
      path.join(FIXTURES, 'github-webhooks.jsonl'),
      '--handlers',
      path.join(FIXTURES, 'handlers'),
      '--json',
      '--output-dir',
      output,
    );
    expect(stderr).toBe('');
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ jobs: 240, done: 232, dead: 8, attempts: 282, failures: [] });
    expect(report.expectations.met).toBe(report.expectations.checked);
    expect(status).toBe(0);
  });
});
