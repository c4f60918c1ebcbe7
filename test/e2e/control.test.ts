/** Steering the running emulator from other commands. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { jobq, scratch, startEmulator } from '../support/cli.js';

/** Never by itself: a tick fires because the clock was moved, or somebody asked. */
const RARELY = ['--cron', '0 0 1 1 *'];

describe('steering the emulator', () => {
  let cwd: string;
  const run = (...args: string[]) => jobq(args, { cwd });
  const json = async (...args: string[]) => {
    const { stdout, stderr } = await run(...args, '--json');
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };
  const counts = async () => (await json('stats')).counts;
  const handler = (name: string, text: string) => {
    mkdirSync(path.join(cwd, 'handlers'), { recursive: true });
    writeFileSync(path.join(cwd, 'handlers', name), text);
  };

  beforeEach(() => {
    cwd = scratch();
    handler('ok.sh', 'true');
    handler('bad.sh', 'exit 1');
  });

  it('advance runs what comes due: cron, retries and ages move together', async () => {
    const emulator = await startEmulator({ cwd }, '--cron', '*/30 * * * *', '--seed', 'x');
    await run('enqueue', 'ok', '--run-after', '3h');
    await run('enqueue', 'bad', '--max-attempts', '2');
    expect(await json('advance', '--to', 'next-tick')).toMatchObject({ ticks: 1 });
    await emulator.seen(/retry +job 2 bad/);
    const to = await json('advance', '--to', 'next-retry');
    expect(to.offset_ms).toBeGreaterThan(120_000);
    const later = await run('advance', '1h');
    expect(later.stdout).toMatch(
      /^the emulator's clock is at \S+Z, \S.* ahead\na tick fires now\n/,
    );
    await emulator.seen(/catching up[\s\S]*dead +job 2 bad/);
    expect(await counts()).toMatchObject({ pending: 1, dead: 1 });
    await run('advance', '2h');
    await emulator.seen(/done +job 1 ok/);
    // "from now" is the emulator's now.
    await run('enqueue', 'ok', '--run-after', '10m');
    expect(await json('jobs', 'explain', '3')).toMatchObject({
      reasons: [expect.stringMatching(/^It is not due yet/)],
    });
  });

  it('pause holds the schedule, a drain by hand goes on, resume takes it up again', async () => {
    const emulator = await startEmulator({ cwd }, '--cron', '* * * * * *');
    await emulator.seen(/tick +on schedule/);
    expect(await json('pause')).toEqual({ paused: true });
    await run('enqueue', 'ok');
    expect((await run('jobs', 'explain', '1')).stdout).toContain('The drainer is paused');
    expect(await counts()).toMatchObject({ pending: 1 });
    expect(await json('drain')).toMatchObject({ done: 1 });
    await run('enqueue', 'ok');
    expect(await json('resume')).toEqual({ paused: false });
    await emulator.seen(/done +job 2 ok/);
  });

  it('sandbox use keeps what is in use, and says what cannot be had', async () => {
    await startEmulator({ cwd }, ...RARELY);
    expect(await json('sandbox', 'use', 'process')).toMatchObject({ provider: 'process' });
    const { status, stderr } = await run('sandbox', 'use', 'proces');
    expect(status).toBe(2);
    expect(stderr).toMatch(/provider: .*auto.*process/);
    expect((await run('sandbox', 'uze', 'process')).stderr).toContain('did you mean "use"');
  });

  it('plays a fixture into its own queue, from its own clock', async () => {
    const emulator = await startEmulator({ cwd }, ...RARELY);
    await run('advance', '2d');
    const lines = [
      '{"at":"0s","kind":"ok","payload":{"id":1970670598291982290}}',
      '{"at":"3s","kind":"ok","payload":{},"count":2,"run_after":"1h"}',
    ];
    writeFileSync(path.join(cwd, 'burst.jsonl'), lines.join('\n'));
    const post = (body: object) =>
      fetch(`${emulator.url}/replay`, { method: 'POST', body: JSON.stringify(body) });
    expect(await (await post({ path: 'burst.jsonl', speed: 100 })).json()).toEqual({
      id: '1',
      jobs: 3,
    });
    while ((await counts()).pending < 3);
    const jobs = await json('jobs', 'list');
    expect((await run('jobs', 'show', '1')).stdout).toContain('{"id": 1970670598291982290}');
    expect(Date.parse(jobs[0].run_after) - Date.now()).toBeGreaterThan(47 * 3_600_000);
    writeFileSync(path.join(cwd, 'bad.jsonl'), '{"at":"0s"}');
    for (const file of ['bad.jsonl', 'none.jsonl']) {
      const refused = await post({ path: file });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ detail: expect.stringContaining(file) });
    }
    expect((await counts()).pending).toBe(3);
  });

  it('stops playing when it is stopped', async () => {
    const emulator = await startEmulator({ cwd }, ...RARELY);
    const lines = ['{"at":"0s","kind":"ok"}', '{"at":"1h","kind":"ok"}'];
    writeFileSync(path.join(cwd, 'burst.jsonl'), lines.join('\n'));
    await fetch(`${emulator.url}/replay`, {
      method: 'POST',
      body: '{"path":"burst.jsonl"}',
    });
    emulator.child.kill('SIGINT');
    expect((await emulator.ended).status).toBe(130);
  });

  it('makes the example handlers, into the handlers directory, and overwrites nothing', async () => {
    handler('hello.py', 'mine');
    const emulator = await startEmulator({ cwd }, ...RARELY);
    const post = async () =>
      (await fetch(`${emulator.url}/examples`, { method: 'POST' })).json() as Promise<{
        dir: string;
        created: string[];
      }>;
    const { dir, created } = await post();
    expect(dir).toBe(path.join(cwd, 'handlers'));
    expect(created).toEqual(['archive.sh', 'hash.mjs']);
    expect(readdirSync(dir).sort()).toEqual(['ok.sh', 'bad.sh', 'hello.py', ...created].sort());
    expect(await post()).toMatchObject({ created: [] });
  });

  it('finds an emulator whose database lies elsewhere, and forgets it when it ends', async () => {
    const file = path.join(cwd, '.jobq', 'emulator.json');
    const emulator = await startEmulator({ cwd }, '--memory', ...RARELY);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await json('pause')).toEqual({ paused: true });
    emulator.child.kill('SIGINT');
    await emulator.ended;
    expect(existsSync(file)).toBe(false);
  });

  it('picks inserts up at once with --wake, and says which way it is', async () => {
    const waiting = await startEmulator({ cwd }, ...RARELY);
    await waiting.seen(/^ {2}inserts {3}wait for the next tick, as in production/m);
    waiting.child.kill('SIGINT');
    await waiting.ended;
    const emulator = await startEmulator({ cwd }, '--wake', ...RARELY);
    await emulator.seen(/^ {2}inserts {3}are picked up at once/m);
    await run('enqueue', 'ok');
    await emulator.seen(/tick +for an insert[\s\S]*done +job 1 ok/);
    await run('jobs', 'edit', '1', '--payload', '7');
    await emulator.seen(/done +job 2 ok/);
    await run('enqueue', 'ok', '--run-after', '1h');
    expect(await counts()).toMatchObject({ pending: 1, done: 2 });
  });

  it('asks for a token where one is set; commands of its folder know it', async () => {
    const emulator = await startEmulator({ cwd, env: { JOBQ_TOKEN: 's3cret' } }, ...RARELY);
    expect((await fetch(`${emulator.url}/stats`)).status).toBe(401);
    expect((await fetch(`${emulator.url}/healthz`)).status).toBe(200);
    const headers = { authorization: 'Bearer s3cret' };
    expect((await fetch(`${emulator.url}/stats`, { headers })).status).toBe(200);
    expect((await run('enqueue', 'ok')).status).toBe(0);
    expect(await json('pause')).toEqual({ paused: true });
    const wrong = await run('stats', '--token', 'other');
    expect(wrong.status).toBe(2);
    expect(wrong.stderr).toMatch(/^error: the token is not the one of this emulator\n.*JOBQ_TOKEN/);
    expect(emulator.text).not.toContain('s3cret');
  });

  it.each([
    ['advance', '5m'],
    ['pause'],
    ['resume'],
    ['sandbox', 'use', 'process'],
    ['jobs', 'logs', '1', '--follow'],
  ])('%s is refused where no emulator runs, or one was killed', async (...args) => {
    const refused = async () => {
      const { status, stderr } = await run(...args);
      expect(status).toBe(3);
      expect(stderr).toMatch(/^error: no emulator is running in .*\.jobq\n {2}Start it first/);
    };
    await refused();
    if (args[0] !== 'pause') return;
    const emulator = await startEmulator({ cwd }, ...RARELY);
    emulator.child.kill('SIGKILL');
    await emulator.ended;
    await refused();
  });

  it.each([
    [['advance'], 'not said how far'],
    [['advance', '5m', '--to', 'next-tick'], 'both a duration and --to are given'],
    [['advance', 'soon'], 'no emulator'],
  ])('%j is refused in words', async (args, words) => {
    const { status, stderr } = await run(...args);
    expect([2, 3]).toContain(status);
    expect(stderr).toContain(words);
  });
});
