/** One sandbox of the process provider: a private directory, and what runs in it. */
import { Ending } from '../ending.js';
import { handlerEnv, nulFailure, type StartFailure } from '../handler-command.js';
import type { Command, RunResult, Sandbox, SandboxSpec } from '../port.js';
import { resolveProgram } from './interpreter.js';
import type { Launch } from './launch.js';
import { Run } from './run.js';
import type { Slot } from './starter.js';
import { writeInside } from './workspace.js';

/** What a sandbox needs of its provider. */
export interface SandboxHost {
  openSlot(): Promise<Slot>;
  /** Puts an isolating program before a handler's command line, if one is used. */
  wrap(
    argv: readonly string[],
    workspace: string,
    spec: SandboxSpec,
  ): Pick<Launch, 'argv' | 'signalsAsCodes'>;
  /** Called once, when nothing runs in the sandbox any more. */
  release(sandbox: ProcessSandbox): Promise<void>;
}

export class ProcessSandbox implements Sandbox {
  readonly workspace: string;
  readonly outputDir: string;
  readonly #spec: SandboxSpec;
  readonly #host: SandboxHost;
  readonly #runs = new Set<Run>();
  readonly #ending = new Ending((why) => this.#destroy(why));
  /** Opened with the sandbox, so that its start-up is over when the run comes. */
  #spare: Slot | undefined;

  constructor(workspace: string, spec: SandboxSpec, host: SandboxHost, spare: Slot) {
    this.workspace = workspace;
    this.outputDir = spec.outputDir;
    this.#spec = spec;
    this.#host = host;
    this.#spare = spare;
    this.#ending.comesAfter(spec.ttlMs);
  }

  /** @throws JobqError `input` for a path outside, `sandbox-unavailable` after `kill`. */
  async write(path: string, data: string | Uint8Array): Promise<void> {
    this.#ending.refuseWrites();
    await writeInside(this.workspace, path, data);
  }

  async run(command: Command): Promise<RunResult> {
    const run = new Run(command, this.#prepare(command), () => this.#takeSlot());
    if (this.#ending.begun) run.stop({ kind: 'killed', why: this.#ending.why });
    this.#runs.add(run);
    try {
      return await run.result;
    } finally {
      this.#runs.delete(run);
      // As with a microVM: a timeout takes the sandbox with it.
      if (run.timedOut) {
        void this.#ending.begin(`the sandbox timed out after ${command.timeoutMs} ms`);
      }
    }
  }

  kill(): Promise<void> {
    return this.#ending.begin();
  }

  async #destroy(why: string): Promise<void> {
    this.#spare?.close();
    for (const run of this.#runs) run.stop({ kind: 'killed', why });
    await Promise.allSettled([...this.#runs].map((run) => run.result));
    await this.#host.release(this);
  }

  async #takeSlot(): Promise<Slot> {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare ?? this.#host.openSlot();
  }

  #prepare(command: Command): Launch | StartFailure {
    const env = handlerEnv(command, this.workspace);
    const program = resolveProgram(command, this.#spec.handlersDir);
    if ('code' in program) return program;
    const wrapped = this.#host.wrap(program.argv, this.workspace, this.#spec);
    const failure = nulFailure(wrapped.argv, env);
    if (failure) return failure;
    return {
      ...wrapped,
      env,
      cwd: this.workspace,
      watchedMemoryBytes: this.#spec.memoryBytes,
    };
  }
}
