/** `jobq-dev test` as a process: words, reports, exit status, signals. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { jobq, scratch, start, until } from '../support/cli.js';

// Each start loads a database and a proxy; on a busy machine that takes long.
describe('test', { timeout: 240_000 }, () => {
  let cwd: string;
  const run = (...args: string[]) => jobq(['test', ...args], { cwd });
  const file = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  };
  const GOOD =
    '#!/bin/sh\necho fine >"$JOBQ_OUTPUT_DIR/a.part"; mv "$JOBQ_OUTPUT_DIR/a.part" "$JOBQ_OUTPUT_DIR/a"; echo "said fine"\n';
  const APPENDS = 'echo more >>"$JOBQ_OUTPUT_DIR/log"\n';

  beforeEach(() => {
    cwd = scratch();
    file('handlers/good.sh', GOOD);
    file('handlers/good.cases.jsonl', '{"payload":{"a":1},"expect":{"stdout":"said fine"}}\n');
  });

  it('passes what is right, and names a handler without a case', async () => {
    file('handlers/alone.sh', 'exit 1');
    const { status, stdout, stderr } = await run('--jobs', '2');
    expect(stdout).toMatch(/good +1 +ok +ok +ok +- +- +ok +ok/);
    expect(stdout).toContain('No case for: alone');
    expect(stdout).toContain('same-everywhere is left out: ');
    expect(stdout).toMatch(/Passed: 5 checks passed, 0 failed; 1 case, \d+ attempts in /);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(readdirSync(path.join(cwd, '.jobq')).filter((name) => /^test-/.test(name))).toEqual([]);
  });

  it('fails what is wrong, with what differed and a command that shows it again', async () => {
    file('handlers/appends.sh', APPENDS);
    file('burst.jsonl', '{"at":"0s","kind":"appends","payload":{}}\n');
    const { status, stdout } = await run('burst.jsonl', '--only', 'runs,twice');
    expect(status).toBe(1);
    expect(stdout).toMatch(/appends +1 +ok +1\/1 bad/);
    expect(stdout).toContain('after the second delivery: log differs');
    expect(stdout).toContain('\n    +more\n');
    const [, again] = /again: jobq-dev test (.*)/.exec(stdout)!;
    expect(again).toBe('burst.jsonl:1 --only twice');
    const repeated = await run(...again!.split(' '), '--json');
    expect(repeated.status).toBe(1);
    expect(JSON.parse(repeated.stdout)).toMatchObject({
      passed: 0,
      failed: 1,
      kinds: { appends: { cases: 1, checks: { twice: { failed: 1 } } } },
      results: [
        {
          kind: 'appends',
          case: 'burst.jsonl:1',
          check: 'twice',
          verdict: 'failed',
          findings: [{ fault: 'file-changed' }],
        },
      ],
    });
  });

  it('fails a case without a handler, with the reason, whatever was asked for', async () => {
    file('burst.jsonl', '{"at":"0s","kind":"goood","payload":{},"max_attempts":1}\n');
    const { status, stdout } = await run('burst.jsonl', '--only', 'twice');
    expect(status).toBe(1);
    expect(stdout).toContain(
      'it cannot be started: no handler for kind "goood", did you mean "good"?',
    );
  });

  it('lets no unlisted request out', async () => {
    file('handlers/asks.sh', 'curl -sS --fail https://api.example.test/x');
    file('handlers/asks.cases.jsonl', '{"payload":{},"max_attempts":1}');
    const { status, stdout } = await run('asks', '--only', 'runs');
    expect(status).toBe(1);
    expect(stdout).toContain('it asks for GET https://api.example.test/x, and no answer is listed');
    // The line that is to be added.
    expect(stdout).toContain('{"method":"GET","url":"https://api.example.test/x","status":200,');
  });

  it('names a variable that only the shell has', async () => {
    file('handlers/env.sh', 'echo "${JOBQTEST_TOKEN:?is not set}"');
    file('handlers/env.cases.jsonl', '{"payload":{},"max_attempts":1}');
    const env = { JOBQTEST_TOKEN: 'secret' };
    const { stdout } = await jobq(['test', 'env', '--only', 'runs'], { cwd, env });
    expect(stdout).toContain('JOBQTEST_TOKEN is set in your shell, and handlers do not get it');
  });

  it('writes JUnit XML and TAP', async () => {
    const { stdout, status } = await run('--only', 'runs', '--junit', 'report.xml', '--tap');
    expect(stdout).toBe('TAP version 14\n1..1\nok 1 - good runs handlers/good.cases.jsonl:1\n');
    expect(readFileSync(path.join(cwd, 'report.xml'), 'utf8')).toContain(
      '<testcase classname="good" name="runs handlers/good.cases.jsonl:1"',
    );
    expect(status).toBe(0);
  });

  it('compares with what was accepted, but for what is masked', async () => {
    file('jobq.config.json', '{"testMask":["at \\\\d+"]}');
    file('handlers/good.sh', 'echo "said fine at $(date +%N)"; echo 1 >"$JOBQ_OUTPUT_DIR/a"');
    expect((await run('--only', 'runs', '--update')).stderr).toContain(
      'accepted what 1 handler did',
    );
    expect((await run('--only', 'runs,snapshot')).stdout).toMatch(/good +1 +ok +ok/);
    file('handlers/good.sh', 'echo "said fine at $(date +%N)"; echo 2 >"$JOBQ_OUTPUT_DIR/a"');
    const { status, stdout } = await run('--only', 'snapshot');
    expect(status).toBe(1);
    expect(stdout).toMatch(/- {2}1\n +\+ {2}2/);
  });

  it('refuses words and flags that mean nothing, and says what would', async () => {
    const refusal = async (...args: string[]) => {
      const { status, stderr } = await run(...args);
      expect(status).toBe(2);
      return stderr;
    };
    expect(await refusal('goood')).toContain('"goood", did you mean "good"?');
    expect(await refusal('--only', 'twise')).toContain(
      '"twise", which is no check, did you mean "twice"?',
    );
    expect(await refusal('missing.jsonl')).toContain('there is no file missing.jsonl');
    expect(await refusal('--jobs', '0')).toContain('--jobs is "0"');
    expect(await refusal('--patience', 'soon')).toContain('--patience is "soon"');
    expect(await refusal('--json', '--tap')).toContain('exclude each other');
    file('handlers/good.cases.jsonl', '{"payload":{"a":1},"expct":{}}');
    expect(await refusal()).toMatch(
      /good\.cases\.jsonl:1:\d+: unknown key "expct", did you mean "expect"/,
    );
    file('handlers/good.cases.jsonl', '');
    expect(await refusal()).toMatch(
      /there is no case for good: .*\n {2}Put a line .* into handlers\/good\.cases\.jsonl/,
    );
  });

  it('stops on Ctrl-C and leaves nothing behind', async () => {
    file('handlers/slow.sh', `touch ${cwd}/running; sleep 1000`);
    file('handlers/slow.cases.jsonl', '{"payload":{}}');
    const running = start(['test', 'slow', '--json'], { cwd });
    await until(() => existsSync(path.join(cwd, 'running')));
    running.child.kill('SIGINT');
    const { status, stdout } = await running.ended;
    expect(status).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ interrupted: true, results: [] });
    expect(readdirSync(path.join(cwd, '.jobq')).filter((name) => /^test-/.test(name))).toEqual([]);
  });

  it('watches: tests again what a saved file touches', async () => {
    file('handlers/other.sh', GOOD);
    file('handlers/other.cases.jsonl', '{"payload":{}}');
    const running = start(['test', '--only', 'runs,twice', '--watch'], { cwd });
    await running.seen(/waiting for a handler/);
    file('handlers/good.sh', APPENDS);
    await running.seen(/Failed: 0 checks passed, 1 failed; 1 case/);
    file('handlers/good.sh', GOOD);
    await running.seen(/Passed: 2 checks passed, 0 failed; 1 case/);
    running.child.kill('SIGINT');
    expect((await running.ended).status).toBe(130);
  });
});
