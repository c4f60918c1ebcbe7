/**
 * Who may use the one session next. Single statements go out at once; a transaction waits for
 * those that came before it and holds back those that come after it.
 */
export class Turns {
  /** Resolves when the last transaction that was asked for is over. */
  #last: Promise<void> | undefined;

  /** Runs `send` when no transaction is under way or waiting; synchronously if it can. */
  shared<T>(send: () => Promise<T>): Promise<T> {
    return this.#last ? this.#last.then(send) : send();
  }

  /** Runs `work` alone. What `shared` sent before has reached the session's queue by then. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last ?? Promise.resolve();
    const result = before.then(work);
    const over = result.then(ignore, ignore).then(() => {
      if (this.#last === over) this.#last = undefined;
    });
    this.#last = over;
    return result;
  }

  /** Resolves when every transaction asked for so far is over. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

function ignore(): void {}
