/** One sandbox of the hosted service. */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { JobqError } from '../../errors.js';
import { Ending } from '../ending.js';
import { handlerEnv, nulFailure } from '../handler-command.js';
import { couldNotStart, notRun } from '../not-run.js';
import { oneAtATime } from '../one-at-a-time.js';
import { outside, plainParts } from '../outside.js';
import type { Command, RunResult, Sandbox, SandboxSpec } from '../port.js';
import { asUnavailable, type PandastackApi } from './api.js';
import { packed, refuseLarge, unpackInto } from './archive.js';
import { type PollTimes, RemoteRun } from './run.js';
import {
  EMPTY,
  HANDLERS,
  OUTPUT,
  OWN,
  PREPARE,
  pack,
  placeFile,
  readPiece,
  runScript,
  stop,
  unpack,
  WORKSPACE,
} from './script.js';

/** After a timeout the job's files come out if they do it soon. */
const FILES_AFTER_TIMEOUT_MS = 5_000;
/** Beside the handlers, and no part of them. */
const NO_HANDLERS = ['./.git', '__pycache__'];

export interface RemoteHost {
  readonly api: PandastackApi;
  readonly times: PollTimes;
  /** Called once; destroys the sandbox at the service. */
  release(sandbox: PandastackSandbox): Promise<void>;
}

export class PandastackSandbox implements Sandbox {
  readonly workspace = WORKSPACE;
  readonly outputDir = OUTPUT;
  readonly id: string;
  #spec: SandboxSpec;
  readonly #host: RemoteHost;
  readonly #ending = new Ending((why) => this.#destroy(why));
  readonly #inTurn = oneAtATime();
  readonly #runs = new Set<RemoteRun>();
  #handlers = '';
  #count = 0;

  constructor(id: string, spec: SandboxSpec, host: RemoteHost) {
    this.id = id;
    this.#spec = spec;
    this.#host = host;
  }

  /** Makes it ready for a job. @throws JobqError `sandbox-unavailable`, ApiFault */
  async prepare(): Promise<void> {
    await this.#shell(PREPARE);
    const { ttlMs } = this.#spec;
    await this.#sendOutput();
    this.#ending.comesAfter(ttlMs);
  }

  renew(spec: SandboxSpec): Promise<void> {
    return this.#inTurn(async () => {
      await this.#shell(EMPTY);
      this.#spec = spec;
      await this.#sendOutput();
    });
  }

  /** @throws JobqError `input` for a path outside, `sandbox-unavailable` after `kill`. */
  write(file: string, data: string | Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      plainParts(file);
      this.#ending.refuseWrites();
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      refuseLarge(bytes, JSON.stringify(file));
      this.#count += 1;
      const uploaded = `${OWN}/in-${this.#count}`;
      try {
        await this.#host.api.put(this.id, uploaded, bytes);
        const { exitCode } = await this.#host.api.execAgain(this.id, placeFile(uploaded, file));
        if (exitCode === 3) throw outside(file);
        if (exitCode !== 0) throw new JobqError('sandbox-unavailable', `cannot write ${file}`);
      } catch (error) {
        throw asUnavailable(`cannot write ${JSON.stringify(file)}`, error);
      }
    });
  }

  run(command: Command): Promise<RunResult> {
    return this.#inTurn(() => this.#run(command));
  }

  kill(): Promise<void> {
    return this.#ending.begin();
  }

  async #run(command: Command): Promise<RunResult> {
    if (this.#ending.begun) return notRun({ kind: 'lost', reason: this.#ending.why });
    const env = handlerEnv(command, WORKSPACE);
    const failure = nulFailure([...command.interpreter, command.script, ...command.args], env);
    if (failure) return couldNotStart(failure);
    this.#count += 1;
    const folder = `${OWN}/run-${this.#count}`;
    const run = new RemoteRun(this.#host.api, this.id, folder, command, this.#host.times);
    this.#runs.add(run);
    try {
      await this.#sendHandlers();
      const source = Buffer.from(runScript(folder, command, env));
      await this.#host.api.put(this.id, `${folder}.sh`, source);
    } catch (error) {
      this.#runs.delete(run);
      const reason = this.#ending.begun ? this.#ending.why : (error as Error).message;
      return notRun({ kind: 'lost', reason });
    }
    try {
      const result = await run.result();
      if (!this.#ending.begun && result.outcome.kind !== 'lost') await this.#fetchOutput(result);
      return result;
    } catch (error) {
      await this.#host.api.execOnce(this.id, stop(folder)).catch(() => {});
      void this.#ending.begin('what listens to its output failed');
      throw error;
    } finally {
      this.#runs.delete(run);
    }
  }

  /** What earlier attempts of the job have left for it. */
  async #sendOutput(): Promise<void> {
    const { outputDir } = this.#spec;
    if ((await readdir(outputDir)).length === 0) return;
    await this.#upload(await packed(outputDir, 'the output directory'), OUTPUT);
  }

  /** The handlers as they are now, when they are others than before. */
  async #sendHandlers(): Promise<void> {
    const { handlersDir } = this.#spec;
    const archive = await packed(handlersDir, `the handlers directory ${handlersDir}`, NO_HANDLERS);
    const hash = createHash('sha256').update(archive).digest('hex');
    if (hash === this.#handlers) return;
    await this.#upload(archive, HANDLERS);
    this.#handlers = hash;
  }

  async #upload(archive: Buffer, folder: string): Promise<void> {
    await this.#host.api.put(this.id, `${OWN}/in.tar`, archive);
    await this.#shell(unpack(`${OWN}/in.tar`, folder));
  }

  /** @throws Error when it fails. */
  async #shell(line: string): Promise<string> {
    const { stdout, stderr, exitCode } = await this.#host.api.execAgain(this.id, line);
    if (exitCode !== 0) throw new Error(`in the sandbox: ${stderr.trim() || `status ${exitCode}`}`);
    return stdout;
  }

  async #fetchOutput(result: RunResult): Promise<void> {
    const timedOut = result.outcome.kind === 'timeout';
    const fetched = this.#receiveOutput();
    const limited = timedOut ? Promise.race([fetched, later(FILES_AFTER_TIMEOUT_MS)]) : fetched;
    await limited.catch((error: Error) => {
      if (timedOut) return;
      const reason = `its output could not be fetched: ${error.message}`;
      result.outcome = { kind: 'lost', reason };
      void this.#ending.begin(reason);
    });
    // As with every microVM: a timeout takes the sandbox with it.
    if (timedOut) void this.#ending.begin('the sandbox timed out');
  }

  async #receiveOutput(): Promise<void> {
    const archive = `${OWN}/out.tar`;
    const size = Number(await this.#shell(pack(archive)));
    const pieces: Buffer[] = [];
    for (let at = 0; at < size; ) {
      const piece = Buffer.from(await this.#shell(readPiece(archive, at)), 'base64');
      if (piece.length === 0) throw new Error('the archive ends too soon');
      pieces.push(piece);
      at += piece.length;
    }
    await unpackInto(this.#spec.outputDir, Buffer.concat(pieces));
  }

  async #destroy(why: string): Promise<void> {
    for (const run of this.#runs) run.lose(why);
    await this.#host.release(this);
  }
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
