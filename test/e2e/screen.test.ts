/**
 * The screen on a real terminal, driven by keys. Needs tmux; without it the tests are skipped, unless
 * TEST_REQUIRE_TMUX=1 says that they must run.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { jobq, scratch, startEmulator, until } from '../support/cli.js';
import { noTerminal, Terminal } from '../support/terminal.js';

if (noTerminal !== undefined && process.env.TEST_REQUIRE_TMUX === '1') {
  throw new Error(`TEST_REQUIRE_TMUX=1, but ${noTerminal}`);
}

const WEBHOOKS = fileURLToPath(new URL('../../fixtures/github-webhooks.jsonl', import.meta.url));
/** No tick by itself: what happens is what a key does. */
const NEVER = "--port 0 --cron '0 0 1 1 *'";

/** A folder with a handler that works, one that fails, and one that takes its time. */
function project(): string {
  const cwd = scratch();
  const handler = (kind: string, script: string) =>
    writeFileSync(path.join(cwd, 'handlers', `${kind}.sh`), script);
  mkdirSync(path.join(cwd, 'handlers'));
  handler('good', 'echo working\n');
  handler('bad', 'echo "no such user: $JOBQ_JOB_ID" >&2; exit 1\n');
  handler('slow', 'echo first line; sleep 600\n');
  return cwd;
}

describe.skipIf(noTerminal !== undefined)('the screen', () => {
  it('shows a burst to its end, each panel, and a job with why it died', async () => {
    const cwd = project();
    copyFileSync(WEBHOOKS, path.join(cwd, 'burst.jsonl'));
    const terminal = new Terminal({ cwd, columns: 120, rows: 40 });
    terminal.run(NEVER);
    await terminal.shows(/Nothing has happened yet/);
    terminal.press('n');
    await terminal.shows(/new job/);
    terminal.type('bad {"n": 12345678901234567890.10}');
    terminal.press('Enter');
    await terminal.shows(/job 1 bad is in the table/);
    terminal.press('d');
    await terminal.shows(/pending 1 .*\n[\s\S]*retry +1 +bad +attempt 1 of 3: no such user: 1/);
    terminal.press('2');
    await terminal.shows(/› +1 +bad +1 of 3 .*no such user: 1/);
    terminal.press('x');
    await terminal.shows(/dead 1/);
    terminal.press('3');
    await terminal.shows(/› +1 +bad .*cancelled by hand/);
    terminal.press('Enter');
    await terminal.shows(/ job 1 bad .*esc back[\s\S]*It is dead since[\s\S]*no such user: 1/);
    terminal.press('2');
    await terminal.shows(/12345678901234567890\.10/);
    terminal.press('Escape');
    await terminal.shows(/3 Dead 1/);

    terminal.press('b');
    await terminal.shows(/replay/);
    terminal.type('burst.jsonl 1000');
    terminal.press('Enter');
    await terminal.shows(/replaying 240 jobs of burst.jsonl/);
    await terminal.shows(/4 All 241/);
    terminal.press('4', '/');
    await terminal.shows(/an id, a kind, or what/);
    terminal.type('kind:push');
    terminal.press('Enter');
    // Every row of the list, down to the empty line below it.
    await terminal.shows(/last error\n(?:.* push +pending.*\n)+\n/);

    terminal.press('q');
    await until(() => terminal.restored);
    await terminal.shows(/stopped http/);
    expect(terminal.scrollback).toMatch(/in \d.*: 1 claimed, 0 done, 1 retried, 0 dead/);
  });

  it('shows a running attempt line by line, and cancels it', async () => {
    const cwd = project();
    const terminal = new Terminal({ cwd, columns: 80, rows: 24 });
    terminal.run(NEVER);
    await terminal.shows(/Nothing has happened yet/);
    terminal.press('n');
    await terminal.shows(/new job/);
    terminal.type('slow {}');
    terminal.press('Enter');
    await terminal.shows(/in the table/);
    terminal.press('d');
    await terminal.shows(/› +1 +slow +1 of 3 .*first line/);
    terminal.press('Enter');
    await terminal.shows(/ job 1 slow [\s\S]*first line/);
    terminal.press('x');
    await terminal.shows(/kill the running attempt/);
    terminal.press('y');
    await terminal.shows(/dead 1/);
    terminal.press('q');
    await terminal.shows(/stopped http/);
  });

  it('keeps its shape at every size', async () => {
    const cwd = project();
    const terminal = new Terminal({ cwd, columns: 120, rows: 40 });
    terminal.run(NEVER);
    await terminal.shows(/Nothing has happened yet/);
    for (const [columns, rows] of [
      [80, 24],
      [40, 10],
      [1, 1],
      [200, 60],
      [40, 10],
      [80, 24],
    ] as const) {
      terminal.resize(columns, rows);
      if (columns >= 40) await terminal.shows(/pending 0/);
      await until(() => terminal.screen.split('\n').length <= rows);
    }
    await terminal.shows(/ 1 Live 0 [\s\S]*q quit|\? keys/);
    terminal.press('q');
    await terminal.shows(/stopped http/);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'gives the terminal back at %s',
    async (signal) => {
      const terminal = new Terminal({ cwd: project(), columns: 80, rows: 24 });
      terminal.run(NEVER);
      await terminal.shows(/Nothing has happened yet/);
      expect(terminal.restored).toBe(false);
      process.kill(terminal.pid, signal);
      await terminal.shows(/in \d.*: 0 claimed[\s\S]*stopped http/);
      expect(terminal.restored).toBe(true);
    },
  );

  it('gives the terminal back when it crashes, and says why', async () => {
    const cwd = project();
    writeFileSync(
      path.join(cwd, 'crash.cjs'),
      `process.on('SIGUSR2', () => { throw new Error('a fault of its own'); });`,
    );
    const terminal = new Terminal({ cwd, columns: 80, rows: 24 });
    terminal.run(NEVER, 'NODE_OPTIONS="--require ./crash.cjs"');
    await terminal.shows(/Nothing has happened yet/);
    process.kill(terminal.pid, 'SIGUSR2');
    await terminal.shows(/a fault of its own/);
    await until(() => terminal.restored);
  });

  it('has an editor for a payload, and is there again after it', async () => {
    const cwd = project();
    const terminal = new Terminal({
      cwd,
      columns: 80,
      rows: 24,
      env: { EDITOR: "sed -i 's/before/after/'" },
    });
    terminal.run(NEVER);
    await terminal.shows(/Nothing has happened yet/);
    terminal.press('n');
    await terminal.shows(/new job/);
    terminal.type('good {"a":"before"}');
    terminal.press('Enter');
    await terminal.shows(/in the table/);
    terminal.press('4');
    await terminal.shows(/› +1 +good/);
    terminal.press('e');
    await terminal.shows(/✓/);
    terminal.press('Enter');
    await terminal.shows(/ job \d good/);
    terminal.press('2');
    await terminal.shows(/"a": ?"after"/);
    terminal.press('q');
    await terminal.shows(/stopped http/);
  });

  it('writes no colours with NO_COLOR', async () => {
    const cwd = project();
    const terminal = new Terminal({ cwd, columns: 80, rows: 24, env: { NO_COLOR: '1' } });
    terminal.run(NEVER);
    await terminal.shows(/Nothing has happened yet/);
    expect(terminal.coloured).not.toMatch(/\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7])[;m]/);
    terminal.press('q');
    await terminal.shows(/stopped http/);
  });

  it('is attached to an emulator elsewhere, and leaves it running', async () => {
    const cwd = project();
    const emulator = await startEmulator({ cwd }, '--cron', '0 0 1 1 *');
    const terminal = new Terminal({ cwd, columns: 80, rows: 24 });
    terminal.run('attach');
    await terminal.shows(/Nothing has happened yet/);
    await jobq(['enqueue', 'good', '{}'], { cwd });
    await jobq(['drain'], { cwd });
    await terminal.shows(/done 1[\s\S]*done +1 +good/);
    terminal.press('q');
    await until(() => terminal.restored);
    expect((await fetch(`${emulator.url}/healthz`)).status).toBe(200);
  });

  it('says what to do first, and makes the examples', async () => {
    const terminal = new Terminal({ cwd: scratch(), columns: 80, rows: 24 });
    terminal.run(NEVER);
    await terminal.shows(/There are no handlers yet[\s\S]*i creates three examples/);
    terminal.press('i');
    await terminal.shows(/Nothing has happened yet/);
    terminal.press('q');
    await terminal.shows(/stopped http/);
  });

  it.each([
    ['--no-tui', '', '--no-tui'],
    ['in CI', 'CI=1', ''],
    ['with stdin from a pipe', 'cat crumb |', ''],
    ['with stdout into a pipe', '', '| cat'],
  ])('is not there %s: lines', async (_when, before, after) => {
    const cwd = project();
    writeFileSync(path.join(cwd, 'crumb'), '');
    const terminal = new Terminal({ cwd, columns: 80, rows: 24 });
    terminal.run(`${NEVER} ${after}`, before);
    await terminal.shows(/jobq-dev ready at http/);
    expect(terminal.restored).toBe(true);
    terminal.press('C-c');
    await terminal.shows(/stopped http/);
  });
});
