/**
 * A sandbox provider whose runs end when the test says so, and that misbehaves on demand. Only for
 * tests of what goes on around a sandbox; the real ones have their own suite (test/sandbox).
 */
import type { RunResult, Sandbox, SandboxProvider, SandboxSpec } from '#src/sandbox/port.js';

const NOTHING = { text: '', totalBytes: 0, truncated: false };

export const exited = (code: number, stderr = ''): RunResult => ({
  outcome: { kind: 'exited', code },
  stdout: NOTHING,
  stderr: { text: stderr, totalBytes: stderr.length, truncated: false },
  durationMs: 1,
  memoryExceeded: false,
});

export interface FakeRun {
  /** `job 7`, as the attempt labels its sandbox. */
  label: string;
  payload: string;
  env: Readonly<Record<string, string>>;
  /** Ends the run. */
  end: (result: RunResult) => void;
  killed: boolean;
}

export class FakeProvider implements SandboxProvider {
  readonly name = 'process';
  readonly description = 'fake';
  readonly enforces = {
    isolation: 'none',
    memory: 'none',
    network: 'host',
    containment: 'none',
    separateStderr: true,
  } as const;
  readonly runs: FakeRun[] = [];
  /** Set to make `create` fail for a label. */
  failCreate: (label: string) => boolean = () => false;
  /** Ends a run at once when it gives a result. */
  answer: (run: FakeRun) => RunResult | undefined = () => undefined;
  #waiting: { count: number; resolve: () => void }[] = [];

  /** Resolves when `count` runs have been started in all. */
  started(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ count, resolve });
      this.#notify();
    });
  }

  get running(): FakeRun[] {
    return this.runs.filter((run) => this.#open.has(run));
  }

  /** The run of a job that has started. Jobs claimed together start in any order. */
  runOf(jobId: string): FakeRun {
    const found = this.running.find(({ label }) => label === `job ${jobId}`);
    if (found === undefined) throw new Error(`job ${jobId} does not run`);
    return found;
  }

  readonly #open = new Set<FakeRun>();

  #notify(): void {
    for (const waiter of this.#waiting) if (this.runs.length >= waiter.count) waiter.resolve();
    this.#waiting = this.#waiting.filter((waiter) => this.runs.length < waiter.count);
  }

  async create(spec: SandboxSpec): Promise<Sandbox> {
    if (this.failCreate(spec.label)) throw new Error(`no sandbox for ${spec.label}`);
    const files = new Map<string, string>();
    let kill = () => {};
    return {
      workspace: '/workspace',
      outputDir: spec.outputDir,
      write: async (path, data) => {
        files.set(path, String(data));
      },
      run: ({ env }) =>
        new Promise<RunResult>((resolve) => {
          const run: FakeRun = {
            label: spec.label,
            payload: files.get('payload.json') ?? '',
            env,
            killed: false,
            end: (result) => {
              this.#open.delete(run);
              resolve(result);
            },
          };
          kill = () => {
            run.killed = true;
            run.end({ ...exited(0), outcome: { kind: 'signaled', signal: 'SIGKILL' } });
          };
          this.runs.push(run);
          this.#open.add(run);
          const answer = this.answer(run);
          if (answer !== undefined) run.end(answer);
          this.#notify();
        }),
      kill: async () => kill(),
    };
  }

  async close(): Promise<void> {}
}
