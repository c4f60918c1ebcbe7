/**
 * One attempt of one job: prepare → run → verdict. It never throws: whatever fails while one job
 * is prepared or run is that job's failure, and the other jobs of the claim go on.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Job } from '../job/job.js';
import { describeOutcome, type Outcome, succeeded } from '../job/outcome.js';
import { storable, tail } from '../job/text.js';
import type { RunResult, Sandbox, SandboxProvider } from '../sandbox/port.js';
import { findHandler, type Interpreters } from './handler.js';

/** What every attempt needs to know of the world. */
export interface AttemptSettings {
  handlersDir: string;
  /** Each job's output directory is made in here, under its id. Absolute. */
  outputRoot: string;
  interpreters: Interpreters;
  /** What the config's `env` lists. */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  sandboxTtlMs: number;
  memoryBytes: number;
  outputLimitBytes: number;
}

/** How an attempt ended; `error` is null when the handler succeeded. */
export interface AttemptResult extends Omit<RunResult, 'outcome'> {
  outcome: Outcome;
  ok: boolean;
  error: string | null;
  /** Until the sandbox was there; undefined when there was none. Milliseconds of real time. */
  sandboxStartMs: number | undefined;
}

export interface RunningAttempt {
  result: Promise<AttemptResult>;
  /** Destroys the sandbox; `result` then resolves. Idempotent. */
  kill(): Promise<void>;
}

/** Characters of an error that the table keeps (DESIGN: "The handler contract"). */
const ERROR_CHARACTERS = 2_000;

export function startAttempt(
  job: Job,
  provider: SandboxProvider,
  settings: AttemptSettings,
  onOutput?: (stream: 'stdout' | 'stderr', text: string) => void,
): RunningAttempt {
  let sandbox: Sandbox | undefined;
  let killed = false;

  async function attempt(): Promise<AttemptResult> {
    const handler = await findHandler(settings.handlersDir, job.kind, settings.interpreters);
    if ('reason' in handler) return notStarted(handler.exitCode, handler.reason);
    const outputDir = path.join(settings.outputRoot, job.id);
    await mkdir(outputDir, { recursive: true });
    if (killed) return killedBeforeStart();
    const begunAt = performance.now();
    sandbox = await provider.create({
      handlersDir: handler.dir,
      outputDir,
      memoryBytes: settings.memoryBytes,
      ttlMs: settings.sandboxTtlMs,
      label: `job ${job.id}`,
      kind: job.kind,
    });
    const sandboxStartMs = performance.now() - begunAt;
    await sandbox.write('payload.json', job.payload);
    if (killed) return killedBeforeStart();
    const result = await sandbox.run({
      interpreter: handler.interpreter,
      script: handler.script,
      args: [path.posix.join(sandbox.workspace, 'payload.json')],
      env: {
        ...settings.env,
        JOBQ_JOB_ID: job.id,
        JOBQ_KIND: job.kind,
        JOBQ_ATTEMPT: String(job.attempts),
        JOBQ_MAX_ATTEMPTS: String(job.max_attempts),
        JOBQ_OUTPUT_DIR: sandbox.outputDir,
      },
      timeoutMs: settings.timeoutMs,
      outputLimitBytes: settings.outputLimitBytes,
      ...(onOutput === undefined ? {} : { onOutput }),
    });
    const ok = succeeded(result.outcome) && !result.memoryExceeded;
    return { ...result, ok, error: ok ? null : errorText(result, settings), sandboxStartMs };
  }

  return {
    result: attempt()
      .catch((error: unknown) => notStarted(undefined, String((error as Error).message)))
      .finally(() => sandbox?.kill()),
    async kill() {
      killed = true;
      await sandbox?.kill();
    },
  };
}

/**
 * What a person finds in `last_error`: the last 2,000 characters of stderr, or how it ended when
 * stderr is empty. An end by timeout, memory or signal is always named.
 */
function errorText(result: RunResult, settings: AttemptSettings): string {
  const ending = result.memoryExceeded
    ? `over the memory limit of ${mebibytes(settings.memoryBytes)}: the whole process tree was ended${
        result.peakMemoryBytes === undefined ? '' : ` at ${mebibytes(result.peakMemoryBytes)}`
      }`
    : describeOutcome(result.outcome);
  const stderr = storable(result.stderr.text).trim();
  if (stderr === '') return ending;
  if (result.outcome.kind === 'exited' && !result.memoryExceeded) {
    return tail(stderr, ERROR_CHARACTERS);
  }
  return `${ending}\n${tail(stderr, ERROR_CHARACTERS - ending.length - 1)}`;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

const NOTHING = { text: '', totalBytes: 0, truncated: false };

/** The handler was not run: no script (an exit code says why, as a shell's would), or no sandbox. */
function notStarted(exitCode: number | undefined, reason: string): AttemptResult {
  return {
    outcome: exitCode === undefined ? { kind: 'lost', reason } : { kind: 'exited', code: exitCode },
    ok: false,
    error: tail(storable(reason), ERROR_CHARACTERS),
    stdout: NOTHING,
    stderr: NOTHING,
    durationMs: 0,
    memoryExceeded: false,
    sandboxStartMs: undefined,
  };
}

function killedBeforeStart(): AttemptResult {
  return notStarted(undefined, 'killed before the handler was started');
}
