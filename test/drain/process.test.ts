/** The drainer with real child processes: what only a real run can show. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '#src/clock.js';
import type { Database } from '#src/db/port.js';
import { Drainer } from '#src/drain/drainer.js';
import { Events } from '#src/events.js';
import { RETRY_POLICIES } from '#src/job/retry.js';
import { enqueue } from '#src/queue/enqueue.js';
import { findJob } from '#src/queue/find.js';
import { showJob } from '#src/queue/inspect.js';
import type { SandboxProvider } from '#src/sandbox/port.js';
import { createProcessProvider } from '#src/sandbox/process/index.js';
import { freshMemoryDatabase } from '../support/postgres.js';

describe('the drainer with the process provider', () => {
  let db: Database;
  let dir: string;
  let provider: SandboxProvider;

  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'jobq-drain-'));
    mkdirSync(path.join(dir, 'handlers'));
    db = await freshMemoryDatabase();
    provider = await createProcessProvider({
      workDir: path.join(dir, 'work'),
      journalDir: path.join(dir, 'journal'),
    });
  });
  afterAll(async () => {
    await provider.close();
    await db.close();
    rmSync(dir, { recursive: true, force: true });
  });
  beforeEach(() => db.exec('truncate jobs, job_attempts restart identity'));

  /** Runs one job of a handler with this text, for one tick. */
  async function runOnce(
    script: string,
    options: { maxAttempts?: number; timeoutMs?: number } = {},
  ) {
    writeFileSync(path.join(dir, 'handlers/work.py'), script);
    const clock = new VirtualClock(new Date('2026-05-01T12:00:00Z'));
    const events = new Events();
    const drainer = new Drainer({
      db,
      clock,
      events,
      provider: () => provider,
      attempt: {
        handlersDir: path.join(dir, 'handlers'),
        outputRoot: path.join(dir, 'output'),
        interpreters: {},
        env: {},
        timeoutMs: options.timeoutMs ?? 60_000,
        sandboxTtlMs: 60_000,
        memoryBytes: 512 * 1024 ** 2,
        outputLimitBytes: 1024 ** 2,
      },
      retryPolicy: RETRY_POLICIES.minutes,
      leaseMs: 1_800_000,
      batch: 20,
      concurrency: 1,
      patienceMs: 0,
    });
    await enqueue(db, {
      jobs: [{ kind: 'work', payload: '{}', maxAttempts: options.maxAttempts }],
      now: clock.now(),
    });
    const counts = await drainer.tick('schedule');
    return { counts, job: await findJob(db, '1'), attempts: (await showJob(db, '1')).attempts_log };
  }

  it('settles a timeout only after the kill: the late write never comes (pg-boss 555)', async () => {
    const late = path.join(dir, 'late');
    const pids = path.join(dir, 'pids');
    const script = `import os, time
with open(${JSON.stringify(pids)}, "a") as f:
    f.write(f"{os.getpid()}\\n")
    f.flush()
    if os.fork() == 0:
        os.setsid()
        f.write(f"{os.getpid()}\\n")
        f.flush()
        time.sleep(3)
        open(${JSON.stringify(late)}, "w").write("child")
        os._exit(0)
time.sleep(3)
open(${JSON.stringify(late)}, "w").write("handler")
`;
    const { counts, job, attempts } = await runOnce(script, { timeoutMs: 1_000 });
    expect(counts).toMatchObject({ retried: 1 });
    expect(job.last_error).toBe('timed out after 1 s; everything it started was killed');
    expect(attempts).toMatchObject([{ outcome: 'timeout' }]);
    // Who would write is gone by the time the job is settled, so nothing has to be waited for.
    const started = readFileSync(pids, 'utf8').trim().split('\n');
    expect(started).toHaveLength(2);
    for (const pid of started) expect(existsSync(`/proc/${pid}`), pid).toBe(false);
    expect(existsSync(late)).toBe(false);
  });

  it('makes a job dead whose handler kills itself on its only attempt (oban 137)', async () => {
    const { job, attempts } = await runOnce('import os\nos.kill(os.getpid(), 9)\n', {
      maxAttempts: 1,
    });
    expect(job).toMatchObject({ status: 'dead', attempts: 1, last_error: 'ended by SIGKILL' });
    expect(attempts).toMatchObject([{ outcome: 'signaled', signal: 'SIGKILL', exit_code: null }]);
  });

  it('stores and retries an error that holds NUL and broken UTF-8 (hatchet 4619)', async () => {
    const { job } = await runOnce(
      'import sys\nsys.stderr.buffer.write(b"a\\0b \\xff\\xed\\xa0\\x80 end")\nsys.exit(1)\n',
    );
    expect(job.status).toBe('pending');
    expect(job.last_error).toMatch(/^a\u2400b \ufffd+ end$/);
  });

  it('keeps the tail of a 2 MB error, by characters (good_job 1769)', async () => {
    const { job } = await runOnce(
      'import sys\nsys.stderr.write("😀" * 500000 + "the end")\nsys.exit(1)\n',
    );
    const characters = Array.from(job.last_error!);
    expect(characters).toHaveLength(2_000);
    expect(job.last_error).toMatch(/^…(😀)+the end$/u);
  });
});
