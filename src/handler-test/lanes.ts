/** Lets a bounded number of pieces of work run at a time, in the order in which they came. */
export class Lanes {
  readonly #free: number[];
  readonly #waiting: ((lane: number) => void)[] = [];

  constructor(readonly count: number) {
    this.#free = Array.from({ length: count }, (_, lane) => lane);
  }

  /** `work` is given the number of its lane, from 0, which nobody else has meanwhile. */
  async use<T>(work: (lane: number) => Promise<T>): Promise<T> {
    const { lane, leave } = await this.enter();
    try {
      return await work(lane);
    } finally {
      leave();
    }
  }

  /** As `use`, for work that ends elsewhere. Call `leave` once. */
  async enter(): Promise<{ lane: number; leave: () => void }> {
    const lane =
      this.#free.shift() ?? (await new Promise<number>((resolve) => this.#waiting.push(resolve)));
    const leave = () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(lane);
      else next(lane);
    };
    return { lane, leave };
  }
}

/** As `Promise.all`, but waits for every one before it throws what the first threw. */
export async function allEnded<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const ends = await Promise.allSettled(work);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}
