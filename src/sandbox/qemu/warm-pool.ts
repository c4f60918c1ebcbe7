/** Machines that are restored ahead of need, each used once. */
import type { Vm } from './vm.js';

export class WarmPool {
  readonly #size: number;
  readonly #make: () => Promise<Vm>;
  readonly #ready: Vm[] = [];
  #filling: Promise<void> | undefined;
  #closed = false;

  /** @param size how many are kept ready; `make` gives one more. */
  constructor(size: number, make: () => Promise<Vm>) {
    this.#size = size;
    this.#make = make;
  }

  get ready(): number {
    return this.#ready.length;
  }

  /** One that is ready, or undefined. Another is made in its place. */
  take(): Vm | undefined {
    const vm = this.#ready.shift();
    this.fill();
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
