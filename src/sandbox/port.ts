/**
 * The sandbox port: where an attempt runs. One conformance suite covers every provider.
 *
 * Life of a sandbox: `create`, any number of `write`s, `run` (at most once a call; it is never sent
 * twice), `kill`. Only create, write and kill may be retried by a provider. `kill` is idempotent
 * and is always called, whatever happened before.
 */
import type { Outcome } from '../job/outcome.js';

/** What can be asked for by name; `auto` chooses. */
export const SANDBOXES = ['auto', 'process', 'qemu', 'pandastack'] as const;
export type SandboxName = (typeof SANDBOXES)[number];

/** What a provider enforces; shown to the user, and compared with what is asked for. */
export interface Enforcement {
  /** `none`, `namespaces`, `microvm`. A child process is never called isolated. */
  isolation: 'none' | 'namespaces' | 'microvm';
  /** How the memory limit is kept: a cgroup, by watching resident memory, the machine's own size. */
  memory: 'cgroup' | 'watched' | 'machine' | 'none';
  /** Whether the handler can reach the network. */
  network: 'host' | 'none';
  /** What ends every descendant, also one that called setsid: e.g. `subreaper`, `process group`. */
  containment: string;
  /** Whether stdout and stderr arrive apart. */
  separateStderr: boolean;
}

export interface SandboxSpec {
  /** Host directory that holds the handlers; read-only in a VM. Absolute. */
  handlersDir: string;
  /** Host directory of the job's output, `JOBQ_OUTPUT_DIR`; exists. Absolute. */
  outputDir: string;
  memoryBytes: number;
  /** The provider may destroy a sandbox that is older than this, whatever runs in it. */
  ttlMs: number;
  /** For journals and messages. */
  label: string;
  /** The job's kind: jobs of one may share a sandbox. */
  kind?: string;
}

export interface Command {
  /**
   * What runs the script: `[]` for an executable, else a program and its arguments. The program is
   * a bare name (`python3`, found by the provider), a path relative to the handlers directory
   * (`.venv/bin/python3`), or an absolute path.
   */
  interpreter: readonly string[];
  /** The script's path relative to the handlers directory. */
  script: string;
  /** Arguments after the script, as the sandbox sees them (see `Sandbox.workspace`). */
  args: readonly string[];
  /** The handler's whole environment, besides PATH, HOME and LANG, which the provider adds. */
  env: Readonly<Record<string, string>>;
  /** At this age of the run the whole sandbox is destroyed and nothing of the job runs any more. */
  timeoutMs: number;
  /** Bytes kept per stream (its tail); the rest is counted. */
  outputLimitBytes: number;
  /** Called with decoded text as it arrives, never cut inside a character. */
  onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

export interface CapturedOutput {
  /** Decoded once as UTF-8, invalid bytes as U+FFFD; the last `outputLimitBytes` of the stream. */
  text: string;
  /** How many bytes the handler wrote. */
  totalBytes: number;
  /** Whether `text` lacks the beginning. */
  truncated: boolean;
}

export interface RunResult {
  outcome: Outcome;
  stdout: CapturedOutput;
  stderr: CapturedOutput;
  durationMs: number;
  /** Largest resident memory seen over the whole tree; undefined where it cannot be known. */
  peakMemoryBytes?: number;
  /** True when the tree was ended because it went over `memoryBytes`. */
  memoryExceeded: boolean;
  /**
   * Command lines of processes that still ran when the handler's own process ended by itself, a few
   * at most; they were ended. Undefined where it cannot be known.
   */
  leftBehind?: string[];
}

export interface Sandbox {
  /** The working directory as the handler sees it: `/workspace` in a VM. */
  readonly workspace: string;
  /** `JOBQ_OUTPUT_DIR` as the handler sees it. */
  readonly outputDir: string;
  /** Puts a file into the workspace; `path` is relative to it. Missing folders are made. */
  write(path: string, data: string | Uint8Array): Promise<void>;
  /** Runs the command, at most once. A non-zero exit never throws. */
  run(command: Command): Promise<RunResult>;
  /**
   * Makes it ready for another job, after a run: an empty workspace, and that job's output directory.
   * Absent where a new sandbox costs no more.
   * @throws Error when it cannot be; then it is to be killed.
   */
  renew?(spec: SandboxSpec): Promise<void>;
  /** Destroys the sandbox and everything in it. Idempotent; resolves when nothing runs any more. */
  kill(): Promise<void>;
}

export interface SandboxProvider {
  readonly name: Exclude<SandboxName, 'auto'>;
  readonly enforces: Enforcement;
  /** One line for people, e.g. `process (no isolation)`. */
  readonly description: string;
  /**
   * @throws JobqError `sandbox-unavailable` when none can be made.
   */
  create(spec: SandboxSpec): Promise<Sandbox>;
  /** Kills every sandbox that is still alive and ends helper processes. Idempotent. */
  close(): Promise<void>;
}
