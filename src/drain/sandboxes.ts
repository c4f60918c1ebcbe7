import type { SandboxName, SandboxProvider } from '../sandbox/port.js';

export interface SandboxesOptions {
  /** Makes the provider of that name; undefined: of the configuration. */
  make: (name?: SandboxName) => Promise<SandboxProvider>;
  /** Resolves when nothing runs in a provider any more. */
  unused: (provider: SandboxProvider) => Promise<void>;
}

/**
 * The provider in use, and those that were replaced while attempts ran in them: each is closed when
 * its last attempt has ended.
 */
export class Sandboxes {
  #first: Promise<SandboxProvider> | undefined;
  #current: SandboxProvider | undefined;
  #retiring = new Map<SandboxProvider, Promise<void>>();
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(private readonly options: SandboxesOptions) {}

  /** The one in use; undefined before any was asked for. */
  get current(): SandboxProvider | undefined {
    return this.#current;
  }

  /**
   * The first one; made when it is asked for the first time.
   * @throws JobqError `sandbox-unavailable`
   */
  first(): Promise<SandboxProvider> {
    this.#first ??= this.options.make().then((provider) => {
      this.#current = provider;
      return provider;
    });
    return this.#first;
  }

  /**
   * Uses another provider from the next attempt on. Calls take their turns.
   * @returns the provider in use then: the same one when it is what was asked for.
   * @throws JobqError `sandbox-unavailable`; the one in use stays.
   */
  use(name: SandboxName): Promise<SandboxProvider> {
    const swapped = this.#turn.then(() => this.#swap(name));
    this.#turn = swapped.catch(() => {});
    return swapped;
  }

  /** Kills what runs in any of them. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn;
    await this.#first?.catch(() => {});
    await Promise.all([...this.#retiring.keys()].map((provider) => provider.close()));
    await this.#current?.close();
  }

  async #swap(name: SandboxName): Promise<SandboxProvider> {
    const old = await this.first();
    const inUse = this.#current ?? old;
    if (name === inUse.name) return inUse;
    const next = await this.options.make(name);
    if (next.name === inUse.name || this.#closed) {
      await next.close();
      return inUse;
    }
    this.#current = next;
    this.#retiring.set(inUse, this.#retire(inUse));
    return next;
  }

  async #retire(provider: SandboxProvider): Promise<void> {
    await this.options.unused(provider);
    await provider.close();
    this.#retiring.delete(provider);
  }
}
