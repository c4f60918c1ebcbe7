/**
 * Several jobs of a kind, one after the other, in one sandbox: its start is paid once. Whatever spoils
 * it spoils no more than the jobs that come after in it: each has its own run, and a sandbox in which
 * one did not come to an ordinary end is not used again.
 */
import type { Command, RunResult, Sandbox, SandboxProvider, SandboxSpec } from './port.js';

/** A sandbox that nobody has wanted for so long is destroyed: the drain is over. */
const IDLE_MS = 5_000;

interface Place {
  sandbox: Sandbox;
  kind: string;
  handlersDir: string;
  memoryBytes: number;
  /** Jobs that it may still take. */
  left: number;
  idle?: NodeJS.Timeout;
}

/** A provider whose sandboxes take up to `jobs` jobs of one kind each, where they can be renewed. */
export function sharing(provider: SandboxProvider, jobs: number): SandboxProvider {
  return jobs > 1 ? new SharingProvider(provider, jobs) : provider;
}

class SharingProvider implements SandboxProvider {
  readonly #provider: SandboxProvider;
  readonly #jobs: number;
  readonly #idle = new Set<Place>();
  #closed = false;

  constructor(provider: SandboxProvider, jobs: number) {
    this.#provider = provider;
    this.#jobs = jobs;
  }

  get name() {
    return this.#provider.name;
  }
  get enforces() {
    return this.#provider.enforces;
  }
  get description() {
    return this.#provider.description;
  }

  async create(spec: SandboxSpec): Promise<Sandbox> {
    for (let place = this.#take(spec); place !== undefined; place = this.#take(spec)) {
      try {
        await place.sandbox.renew!(spec);
        return this.#lease(place);
      } catch {
        // It is gone, or cannot be cleaned: nothing of the new job has run in it.
        await place.sandbox.kill();
      }
    }
    const sandbox = await this.#provider.create(spec);
    if (sandbox.renew === undefined || spec.kind === undefined) return sandbox;
    const { kind, handlersDir, memoryBytes } = spec;
    return this.#lease({ sandbox, kind, handlersDir, memoryBytes, left: this.#jobs });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { idle } of this.#idle) clearTimeout(idle);
    this.#idle.clear();
    await this.#provider.close();
  }

  #take(spec: SandboxSpec): Place | undefined {
    for (const place of this.#idle) {
      const fits =
        place.kind === spec.kind &&
        place.handlersDir === spec.handlersDir &&
        place.memoryBytes === spec.memoryBytes;
      if (!fits) continue;
      clearTimeout(place.idle);
      this.#idle.delete(place);
      return place;
    }
    return undefined;
  }

  #lease(place: Place): Sandbox {
    place.left -= 1;
    return new Lease(place.sandbox, () => this.#giveBack(place));
  }

  /** @returns whether it is kept for another job. */
  #giveBack(place: Place): boolean {
    if (this.#closed || place.left < 1) return false;
    this.#idle.add(place);
    place.idle = setTimeout(() => {
      this.#idle.delete(place);
      void place.sandbox.kill();
    }, IDLE_MS);
    // It keeps nobody from ending: who ends closes the provider.
    place.idle.unref();
    return true;
  }
}

/** What one job has of a shared sandbox. */
class Lease implements Sandbox {
  readonly #sandbox: Sandbox;
  readonly #giveBack: () => boolean;
  #state: 'unused' | 'running' | 'over' | 'spoilt' | 'returned' = 'unused';

  constructor(sandbox: Sandbox, giveBack: () => boolean) {
    this.#sandbox = sandbox;
    this.#giveBack = giveBack;
  }

  get workspace() {
    return this.#sandbox.workspace;
  }
  get outputDir() {
    return this.#sandbox.outputDir;
  }

  write(path: string, data: string | Uint8Array): Promise<void> {
    return this.#sandbox.write(path, data);
  }

  async run(command: Command): Promise<RunResult> {
    this.#state = 'running';
    let result: RunResult | undefined;
    try {
      result = await this.#sandbox.run(command);
      return result;
    } finally {
      // A signal or the memory's end may have left anything behind.
      const isOrdinary = result?.outcome.kind === 'exited' && !result.memoryExceeded;
      this.#state = isOrdinary ? 'over' : 'spoilt';
    }
  }

  async kill(): Promise<void> {
    if (this.#state === 'returned') return;
    const mayServe = this.#state === 'over';
    this.#state = 'returned';
    if (mayServe && this.#giveBack()) return;
    await this.#sandbox.kill();
  }
}
