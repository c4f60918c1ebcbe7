/** One sandbox of the qemu provider: a restored machine, for one job or a few of a kind. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { JobqError } from '../../errors.js';
import { asBytes } from '../byte-path.js';
import { after } from '../deadline.js';
import { Ending } from '../ending.js';
import { handlerEnv, nulFailure } from '../handler-command.js';
import { couldNotStart, notRun } from '../not-run.js';
import { oneAtATime } from '../one-at-a-time.js';
import { outside, plainParts } from '../outside.js';
import type { Command, RunResult, Sandbox, SandboxSpec } from '../port.js';
import { replaceContent } from '../replace-content.js';
import { encodeCommand, runInGuest } from './run.js';
import { sendFile, sendTree } from './tree-in.js';
import { TreeReceiver } from './tree-out.js';
import type { Vm } from './vm.js';

/** Frames that the guest answers when it has done what they ask (see agent.pl). */
const SETTLE = 'A';
const CLEAN = 'C';

/** How long the guest may take over files of any size. */
const FILE_MS = 600_000;
/** After a timeout the job's files come out if they do it soon. */
const FILES_AFTER_TIMEOUT_MS = 5_000;

/** Beside the handlers, and no part of them. */
const NOT_HANDLERS = new Set(['.git', '__pycache__']);

export interface MachineHost {
  /** Folders beside the handlers that are in the image, absolute. */
  readonly packages: readonly string[];
  /** Called once, when the machine is gone. */
  release(sandbox: QemuSandbox): void;
}

export class QemuSandbox implements Sandbox {
  readonly workspace = '/workspace';
  readonly outputDir = '/output';
  readonly #vm: Vm;
  #spec: SandboxSpec;
  readonly #host: MachineHost;
  readonly #ending = new Ending((why) => this.#destroy(why));
  /** One thing at a time goes through the port. */
  readonly #inTurn = oneAtATime();
  readonly #sentHandlers = new Map<string, string>();
  #count = 0;

  private constructor(vm: Vm, spec: SandboxSpec, host: MachineHost) {
    this.#vm = vm;
    this.#spec = spec;
    this.#host = host;
    void vm.ended.then((reason) => this.#ending.begin(reason));
  }

  /**
   * Makes the machine, which is awake and knows the handlers directory, ready for a job.
   * @throws Error when it cannot be.
   */
  static async prepare(vm: Vm, spec: SandboxSpec, host: MachineHost): Promise<QemuSandbox> {
    const sandbox = new QemuSandbox(vm, spec, host);
    await sandbox.#sendOutput();
    sandbox.#ending.comesAfter(spec.ttlMs);
    return sandbox;
  }

  /** @throws JobqError `input` for a path outside, `sandbox-unavailable` after `kill`. */
  write(file: string, data: string | Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      plainParts(file);
      this.#ending.refuseWrites();
      await sendFile(this.#vm.agent, 'w', file, data);
      const fault = await this.#vm.agent
        .request(SETTLE, '', this.#vm.ended, FILE_MS)
        .catch((error: Error) => ({ kind: 'gone', text: error.message }));
      if (fault === undefined) return;
      if (fault.kind === 'outside' || fault.kind === 'directory') throw outside(file);
      throw new JobqError('sandbox-unavailable', `cannot write: ${fault.text}`);
    });
  }

  renew(spec: SandboxSpec): Promise<void> {
    return this.#inTurn(async () => {
      await this.#ask(CLEAN);
      this.#spec = spec;
      await this.#sendOutput();
    });
  }

  run(command: Command): Promise<RunResult> {
    return this.#inTurn(() => this.#run(command));
  }

  async #run(command: Command): Promise<RunResult> {
    if (this.#ending.begun) return notRun({ kind: 'lost', reason: this.#ending.why });
    const env = handlerEnv(command, this.workspace);
    const failure = nulFailure([...command.interpreter, command.script, ...command.args], env);
    if (failure) return couldNotStart(failure);
    const frame = encodeCommand(command, env, this.#spec.memoryBytes);
    try {
      const result = await runInGuest(this.#vm, command, frame, () => this.#sendHandlers());
      const isLost = result.outcome.kind === 'lost';
      // Why it was destroyed says more than that it is gone.
      if (this.#ending.begun && isLost) {
        return { ...result, outcome: { kind: 'lost', reason: this.#ending.why } };
      }
      if (!this.#ending.begun) await this.#fetchOutput(result);
      return result;
    } catch (error) {
      void this.#ending.begin('what listens to its output failed');
      throw error;
    }
  }

  kill(): Promise<void> {
    return this.#ending.begin();
  }

  async #destroy(why: string): Promise<void> {
    await this.#vm.destroy(why);
    this.#host.release(this);
  }

  /** @throws Error when the guest could not do it. */
  async #ask(what: typeof SETTLE | typeof CLEAN): Promise<void> {
    const fault = await this.#vm.agent.request(what, '', this.#vm.ended, FILE_MS);
    if (fault !== undefined) throw new Error(`in the microVM: ${fault.text}`);
  }

  /** What earlier attempts of the job have left for it. */
  async #sendOutput(): Promise<void> {
    if (readdirSync(this.#spec.outputDir).length === 0) return;
    await sendTree(this.#vm.agent, 'o', this.#spec.outputDir);
    await this.#ask(SETTLE);
  }

  /** The handlers as they are now; packages that stand in the image are not sent. */
  async #sendHandlers(): Promise<void> {
    const { handlersDir } = this.#spec;
    const inImage = new Set(
      this.#host.packages.map((each) => asBytes(path.relative(handlersDir, each))),
    );
    await sendTree(this.#vm.agent, 'h', handlersDir, {
      leaveOut: (file) => inImage.has(file) || NOT_HANDLERS.has(path.posix.basename(file)),
      sent: this.#sentHandlers,
    });
    await this.#ask(SETTLE);
  }

  /** The job's files come out whatever became of it; a timeout then takes the machine. */
  async #fetchOutput(result: RunResult): Promise<void> {
    const timedOut = result.outcome.kind === 'timeout';
    try {
      await this.#receiveOutput(timedOut ? FILES_AFTER_TIMEOUT_MS : FILE_MS);
    } catch (error) {
      if (!timedOut) {
        const { message } = error as Error;
        result.outcome = { kind: 'lost', reason: `its output could not be fetched: ${message}` };
        void this.#ending.begin(result.outcome.reason);
      }
    }
    if (timedOut && result.outcome.kind === 'timeout') {
      void this.#ending.begin(`the sandbox timed out after ${result.outcome.afterMs} ms`);
    }
  }

  async #receiveOutput(patienceMs: number): Promise<void> {
    this.#count += 1;
    const fresh = path.join(this.#vm.directory, `output-${this.#count}`);
    const receiver = new TreeReceiver(fresh);
    const { agent, ended } = this.#vm;
    await new Promise<void>((resolve, reject) => {
      const cancel = after(patienceMs, () => reject(new Error('it took too long')));
      void ended.then((reason) => reject(new Error(reason)));
      agent.listen((frame) => {
        try {
          if (frame.letter !== 'Z') return receiver.take(frame);
          receiver.finish();
          if (frame.payload.length > 0) throw new Error(frame.payload.toString());
          resolve();
        } catch (error) {
          reject(error as Error);
        }
        cancel();
        agent.listen(() => {});
      });
      void agent.send('O');
    }).finally(() => agent.listen(() => {}));
    const isEmpty = (folder: string) => !existsSync(folder) || readdirSync(folder).length === 0;
    if (isEmpty(fresh) && isEmpty(this.#spec.outputDir)) return;
    await replaceContent(this.#spec.outputDir, fresh);
  }
}
