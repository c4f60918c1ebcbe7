/**
 * What attempts under test need: room on the disk, recording proxies, and their turn. The attempts
 * themselves are the drainer's (drain/attempt.ts), in the sandboxes that it would use.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type AttemptResult, type AttemptSettings, startAttempt } from '../drain/attempt.js';
import type { Job } from '../job/job.js';
import type { SandboxProvider } from '../sandbox/port.js';
import { proxyFitting } from './far-side/environment.js';
import { ProxyHouse, type RecordingProxy, type Responder } from './far-side/proxy.js';
import { fitted } from './fitted.js';
import { Lanes } from './lanes.js';
import { Outside } from './outside/outside.js';
import type { ScratchDatabases } from './scratch-database.js';

export interface LabOptions {
  provider: SandboxProvider;
  attempt: Omit<AttemptSettings, 'outputRoot'>;
  /** For output directories; made when needed and removed at the end. Absolute. */
  dir: string;
  /** Attempts at a time. */
  jobs: number;
  /** Where handlers get a database from, if they are to have one. */
  databases?: ScratchDatabases | undefined;
  signal?: AbortSignal | undefined;
}

export interface LabAttempt {
  job: Job;
  outside: Outside;
  respond: Responder;
  /** In place of the configured one. */
  timeoutMs?: number | undefined;
  /** Whether it will wait for most of its time, and so need not wait for its turn. */
  idles?: boolean | undefined;
  /** In place of the usual sandboxes. */
  provider?: SandboxProvider | undefined;
  /** Called when the handler is started. */
  onStart?: ((kill: () => void) => void) | undefined;
}

/** Attempts that wait for a far side that hangs cost no processor: so many more may stand. */
const IDLE_LANES = 8;

/** Thrown when the tests were interrupted. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export class Lab {
  /** Attempts so far. */
  attempts = 0;
  /** What they took, in lanes, added up. */
  attemptMs = 0;
  readonly options: LabOptions;
  readonly #busy: Lanes;
  readonly #idle = new Lanes(IDLE_LANES);
  readonly #house = new ProxyHouse();
  readonly #proxies = new Map<string, Promise<RecordingProxy>>();
  #outsides = 0;

  constructor(options: LabOptions) {
    this.options = options;
    this.#busy = new Lanes(options.jobs);
  }

  /** A new outside world for a job. */
  async outside(jobId: string): Promise<Outside> {
    const taken = await this.options.databases?.take();
    this.#outsides += 1;
    const dir = path.join(this.options.dir, String(this.#outsides));
    return Outside.make(dir, jobId, taken?.database, taken?.giveBack);
  }

  /** Runs one attempt when it is its turn. @throws Interrupted */
  attempt(given: LabAttempt): Promise<AttemptResult> {
    const lanes = given.idles ? this.#idle : this.#busy;
    return lanes.use(async (lane) => {
      const proxy = await this.#proxy(`${given.idles ? 'idle' : 'busy'} ${lane}`);
      const certificate = await this.#house.certificate();
      this.#checkInterrupt();
      this.attempts += 1;
      const startedAt = performance.now();
      try {
        return await this.#run(given, proxy, certificate);
      } finally {
        this.attemptMs += performance.now() - startedAt;
        proxy.serve(undefined);
      }
    });
  }

  async #run(
    given: LabAttempt,
    proxy: RecordingProxy,
    certificate: string,
  ): Promise<AttemptResult> {
    const { job, outside, respond, timeoutMs, onStart } = given;
    const { provider, attempt, signal } = this.options;
    proxy.serve(respond);
    const kill = () => void running.kill();
    const fitting = fitted(given.provider ?? provider, (sandbox, { env }) => {
      outside.noteWorkspace(sandbox.workspace);
      onStart?.(kill);
      const { workspace } = sandbox;
      const proxied = proxyFitting(proxy.url, certificate, workspace, env.NODE_OPTIONS);
      if (outside.database === undefined) return proxied;
      return { ...proxied, env: { ...proxied.env, DATABASE_URL: outside.database.url } };
    });
    const running = startAttempt(job, fitting, {
      ...attempt,
      outputRoot: outside.outputRoot,
      timeoutMs: timeoutMs ?? attempt.timeoutMs,
    });
    signal?.addEventListener('abort', kill, { once: true });
    try {
      const result = await running.result;
      this.#checkInterrupt();
      return result;
    } finally {
      signal?.removeEventListener('abort', kill);
    }
  }

  #checkInterrupt(): void {
    if (this.options.signal?.aborted) throw new Interrupted('interrupted');
  }

  #proxy(lane: string): Promise<RecordingProxy> {
    let proxy = this.#proxies.get(lane);
    if (proxy === undefined) {
      proxy = this.#house.open();
      this.#proxies.set(lane, proxy);
    }
    return proxy;
  }

  async close(): Promise<void> {
    await this.#house.close();
    await rm(this.options.dir, { recursive: true, force: true });
  }
}
