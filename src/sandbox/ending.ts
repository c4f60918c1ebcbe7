import { JobqError } from '../errors.js';
import { after } from './deadline.js';

/** The end of a sandbox: it comes once, for one reason, at the latest when its time is over. */
export class Ending {
  readonly #destroy: (why: string) => Promise<void>;
  #over: Promise<void> | undefined;
  #why = '';
  #cancelTtl = (): void => {};

  /** @param destroy is called once; resolves when nothing runs in the sandbox any more. */
  constructor(destroy: (why: string) => Promise<void>) {
    this.#destroy = destroy;
  }

  get begun(): boolean {
    return this.#over !== undefined;
  }

  /** Empty until it has begun. */
  get why(): string {
    return this.#why;
  }

  /** Idempotent: the first reason stays. */
  begin(why = 'the sandbox was killed'): Promise<void> {
    if (this.#over === undefined) {
      this.#why = why;
      this.#cancelTtl();
      this.#over = this.#destroy(why);
    }
    return this.#over;
  }

  comesAfter(ttlMs: number): void {
    if (this.begun) return;
    this.#cancelTtl = after(
      ttlMs,
      () => void this.begin(`the sandbox reached its time to live of ${ttlMs} ms`),
    );
  }

  /** @throws JobqError `sandbox-unavailable` when it has begun. */
  refuseWrites(): void {
    if (this.begun) throw new JobqError('sandbox-unavailable', `cannot write: ${this.#why}`);
  }
}
