/** The emulator as a process: readiness, second commands, Ctrl-C, kill -9, taken ports. */
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CLI, jobq, scratch, start, startEmulator, until } from '../support/cli.js';

/** A tick each second, so that nothing has to be waited for longer. */
const EAGER = ['--cron', '* * * * * *', '--retry', 'seconds'];

describe('the emulator', () => {
  let cwd: string;
  const run = (...args: string[]) => jobq(args, { cwd });
  const handler = (name: string, text: string) => {
    mkdirSync(path.join(cwd, 'handlers'), { recursive: true });
    writeFileSync(path.join(cwd, 'handlers', name), text);
  };

  beforeEach(() => {
    cwd = scratch();
  });

  it('says when it is ready, fires its cron, and runs what other commands insert', async () => {
    handler('ok.sh', 'echo "saw $(cat "$1")"');
    handler('flaky.sh', '[ "$JOBQ_ATTEMPT" = 2 ] || { echo "not yet" >&2; exit 1; }');
    handler('bad.sh', 'echo "never" >&2; exit 4');
    const emulator = await startEmulator({ cwd }, ...EAGER);
    await emulator.seen(/tick +on schedule/);
    expect((await run('enqueue', 'ok', '{"id":1970670598291982290}', '--json')).stdout).toBe(
      '{"id":"1"}\n',
    );
    await run('enqueue', 'flaky');
    await run('enqueue', 'bad', '--max-attempts', '1');
    await emulator.seen(/done +job 1 ok in/);
    await emulator.seen(/retry +job 2 flaky, attempt 1 of 3: not yet \(again in/);
    await emulator.seen(/dead +job 3 bad, attempt 1 of 1: never \(jobq-dev jobs show 3\)/);
    await emulator.seen(/done +job 2 flaky in/);

    expect((await run('jobs', 'logs', '1')).stdout).toContain('{"id": 1970670598291982290}');
    const stats = JSON.parse((await run('stats', '--json')).stdout);
    expect(stats.counts).toEqual({ pending: 0, running: 0, done: 2, dead: 1 });
    expect(JSON.parse((await run('jobs', 'retry', '3', '--json')).stdout).status).toBe('pending');
    await emulator.seen(/dead[\s\S]*dead +job 3/);

    emulator.child.kill('SIGINT');
    const { status, stdout, stderr } = await emulator.ended;
    expect(status).toBe(130);
    expect(stdout + stderr).not.toMatch(/[\u001b\u0080-\u009f]/);
  });

  it('writes JSON Lines under --json', async () => {
    handler('ok.sh', 'true');
    const emulator = start(['--port', '0', '--json', ...EAGER], { cwd });
    await emulator.seen(/"event":"ready"/);
    await run('enqueue', 'ok');
    await emulator.seen(/"event":"drained".*"done":1/);
    emulator.child.kill('SIGTERM');
    const { status, stdout } = await emulator.ended;
    expect(status).toBe(130);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ event: 'ready', url: expect.stringMatching(/^http:/) });
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['tick', 'claimed', 'settled', 'drained']),
    );
  });

  it('keeps one owner: a second emulator is refused, naming pid and start (pglite 1106)', async () => {
    const first = await startEmulator({ cwd });
    const second = await run('--port', '0');
    expect(second.status).toBe(3);
    expect(second.stderr).toContain(`process ${first.child.pid} (jobq-dev)`);
    expect(second.stderr).toMatch(/started \d{4}-\d\d-\d\dT/);
    expect((await run('enqueue', 'x', '--json')).stdout).toBe('{"id":"1"}\n');
  });

  it('does not lose its directory while it is stopped (gbrain 2400)', async () => {
    const first = await startEmulator({ cwd });
    first.child.kill('SIGSTOP');
    const second = await run('--port', '0');
    expect(second.status).toBe(3);
    first.child.kill('SIGCONT');
    expect((await run('stats')).status).toBe(0);
  });

  it('starts again at once after kill -9: every job is there, none stays running (graphile-worker 204)', async () => {
    handler('slow.sh', 'sleep 1000');
    const first = await startEmulator({ cwd }, ...EAGER);
    await run('enqueue', 'slow');
    await first.seen(/claim +job 1 slow/);
    await run('enqueue', 'other');
    first.child.kill('SIGKILL');
    await first.ended;
    await startEmulator({ cwd });
    const jobs = JSON.parse((await run('jobs', 'list', '--json')).stdout);
    expect(jobs).toMatchObject([
      { id: '2', status: 'pending' },
      { id: '1', status: 'pending', attempts: 1, last_error: 'lost: its jobq-dev was killed' },
    ]);
  });

  it.each(['SIGKILL', 'SIGINT'] as const)(
    'leaves nothing running after %s (trigger.dev 2909)',
    async (signal) => {
      const mark = `${Math.floor(Math.random() * 1e9)}.5`;
      handler(
        'spawner.py',
        `import os, subprocess, sys
subprocess.Popen(["sleep", "${mark}"])
subprocess.Popen(["setsid", "sleep", "${mark}"], env={})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sleep", ["sleep", "${mark}"])
    os._exit(0)
print("spawned", flush=True)
os.execv("/bin/sleep", ["sleep", "${mark}"])
`,
      );
      const emulator = await startEmulator({ cwd }, '--grace', '100ms', ...EAGER);
      await run('enqueue', 'spawner');
      await until(() => sleepers(mark) === 4);
      emulator.child.kill(signal);
      const killedAt = performance.now();
      await emulator.ended;
      await until(() => sleepers(mark) === 0);
      expect(performance.now() - killedAt).toBeLessThan(signal === 'SIGKILL' ? 2_000 : 20_000);
    },
  );

  it('gives a running job back on Ctrl-C, and leaves the rest pending (oban 856)', async () => {
    handler('slow.sh', 'sleep 1000');
    const emulator = await startEmulator(
      { cwd },
      '--grace',
      '200ms',
      '--concurrency',
      '1',
      ...EAGER,
    );
    await run('enqueue', 'slow', '--count', '11');
    await emulator.seen(/claim +job 1 slow/);
    // npm delivers one Ctrl-C twice (firebase-tools 2507).
    emulator.child.kill('SIGINT');
    emulator.child.kill('SIGINT');
    const { status, stdout } = await emulator.ended;
    expect(status).toBe(130);
    expect(stdout).toMatch(/release +job 1 slow/);
    expect(stdout.match(/ claim /g)).toHaveLength(1);
    const { counts } = JSON.parse((await run('stats', '--json')).stdout);
    expect(counts).toMatchObject({ pending: 11, running: 0 });
    const job = JSON.parse((await run('jobs', 'show', '1', '--json')).stdout);
    expect(job).toMatchObject({ attempts: 0, attempts_log: [{ outcome: 'released' }] });
  });

  it('cancels a running job by killing its sandbox', async () => {
    handler('slow.sh', 'echo started; sleep 1000');
    const emulator = await startEmulator({ cwd }, ...EAGER);
    await run('enqueue', 'slow');
    await emulator.seen(/claim +job 1 slow/);
    await run('jobs', 'cancel', '1');
    await emulator.seen(/late +job 1 slow/);
    const job = JSON.parse((await run('jobs', 'show', '1', '--json')).stdout);
    expect(job).toMatchObject({ status: 'dead', last_error: 'cancelled by hand' });
  });

  it('exits with 3 naming a taken port, and leaves no child (workers-sdk 6510)', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    try {
      const { status, stderr } = await run('--port', String(port));
      expect(status).toBe(3);
      expect(stderr).toContain(`port ${port}`);
      expect(stderr).toMatch(/ss -ltnp|lsof/);
      expect(processesNaming(cwd)).toEqual([]);
    } finally {
      taken.close();
    }
  });

  it('moves from a taken default port to the next one on a terminal (inngest 3837)', async () => {
    const taken = createServer().listen(5627, '127.0.0.1');
    await Promise.race(['listening', 'error'].map((name) => once(taken, name).catch(() => {})));
    onTestFinished(() => void taken.close());
    // script(1) gives it a terminal of its own.
    const command = ['script', '-qefc', `'${process.execPath}' '${CLI}' --memory`, '/dev/null'];
    const emulator = start([], { cwd, command });
    const [, port] = await emulator.seen(/jobq-dev ready at http:\/\/127\.0\.0\.1:(\d+)/);
    expect(Number(port)).toBeGreaterThan(5627);
    expect(emulator.text).toContain('port 5627 is taken; using');
  });

  it('refuses what a web page could send (process-compose GHSA-5gm3-9crp-6g3v)', async () => {
    const { url } = await startEmulator({ cwd });
    const ask = (headers: Record<string, string>) => fetch(`${url}/stats`, { headers });
    expect((await ask({})).status).toBe(200);
    expect((await ask({ origin: 'https://evil.example' })).status).toBe(403);
    const forged = await jobqRequest(url, 'evil.example');
    expect(forged).toBe(403);
  });

  it('says which database cannot be reached', async () => {
    const { status, stderr } = await run(
      '--port',
      '0',
      '--database-url',
      'postgres://me:secret@127.0.0.1:1/app',
    );
    expect(status).toBe(3);
    expect(stderr).toMatch(/127\.0\.0\.1:1\/app/);
    expect(stderr).not.toContain('secret');
  });
});

/** The status of a request that carries a foreign Host. */
async function jobqRequest(url: string, host: string): Promise<number | undefined> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(`${url}/stats`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return [];
      }
    });
}

/** Processes that run `sleep <mark>`. */
function sleepers(mark: string): number {
  return commandLines().filter((line) => line.trim() === `sleep ${mark}`).length;
}

function processesNaming(text: string): string[] {
  return commandLines().filter((line) => line.includes(text));
}
