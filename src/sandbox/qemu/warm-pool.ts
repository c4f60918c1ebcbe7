/** Machines that are restored ahead of need, each used once. */
import type { Vm } from './vm.js';

/**
 * A machine that was taken starts its handler first: on few cores the next one's restore beside it
 * would make that start last twice as long.
 */
const REFILL_AFTER_MS = 500;

export class WarmPool {
  readonly #size: number;
  readonly #make: () => Promise<Vm>;
  readonly #ready: Vm[] = [];
  #filling: Promise<void> | undefined;
  #refill: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param size how many are kept ready; `make` gives one more. */
  constructor(size: number, make: () => Promise<Vm>) {
    this.#size = size;
    this.#make = make;
  }

  get ready(): number {
    return this.#ready.length;
  }

  /** One that is ready, or undefined. Another is made in its place, a little later. */
  take(): Vm | undefined {
    const vm = this.#ready.shift();
    if (this.#ready.length < this.#size) {
      this.#refill ??= setTimeout(() => {
        this.#refill = undefined;
        void this.fill();
      }, REFILL_AFTER_MS);
    }
    return vm;
  }

  /**
   * Makes machines until there are enough, one after the other: what runs comes first. One that
   * cannot be made is tried again at the next `take`, which says why.
   * @returns when there are enough, or no more can be made.
   */
  fill(): Promise<void> {
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /** Makes no more. The machines are their maker's to destroy. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#refill);
    await this.#filling;
  }

  async #fill(): Promise<void> {
    while (!this.#closed && this.#ready.length < this.#size) {
      const vm = await this.#make().catch(() => undefined);
      if (vm === undefined) return;
      this.#ready.push(vm);
      void vm.ended.then(() => this.#drop(vm));
    }
  }

  #drop(vm: Vm): void {
    const index = this.#ready.indexOf(vm);
    if (index >= 0) this.#ready.splice(index, 1);
  }
}
