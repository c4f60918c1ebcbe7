/**
 * Who may use the one session next. Single statements go out at once; a transaction waits for
 * those that came before it and holds back those that come after it.
 */
export class Turns {
  /** Resolves when the last transaction that was asked for is over. */
  #last: Promise<void> | undefined;
  #waiting = 0;

  /** How many were asked for and wait for a transaction to be over. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Runs `send` when no transaction is under way or waiting; synchronously if it can. */
  shared<T>(send: () => Promise<T>): Promise<T> {
    return this.#last ? this.#after(this.#last, send) : send();
  }

  /** Runs `work` alone. What `shared` sent before has reached the session's queue by then. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#after(this.#last ?? Promise.resolve(), work);
    const over = result.then(ignore, ignore).then(() => {
      if (this.#last === over) this.#last = undefined;
    });
    this.#last = over;
    return result;
  }

  #after<T>(before: Promise<void>, work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    return before.then(() => {
      this.#waiting -= 1;
      return work();
    });
  }

  /** Resolves when every transaction asked for so far is over. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

function ignore(): void {}
