type Write = NodeJS.WriteStream['write'];

/** Lines that are kept for the end. */
const KEPT = 200;

/**
 * Keeps what anything else writes to stdout and stderr (a warning of node, a note of a command) off
 * the screen, and hands it on as lines.
 */
export class StrayWrites {
  readonly #streams: readonly NodeJS.WriteStream[];
  readonly #writes: readonly Write[];
  #lines: string[] = [];
  #rest = '';

  constructor(
    streams: readonly NodeJS.WriteStream[],
    private readonly onLine: (line: string) => void,
  ) {
    this.#streams = streams;
    this.#writes = streams.map((stream) => stream.write);
  }

  catch(): void {
    for (const stream of this.#streams) {
      stream.write = ((text: string | Uint8Array, ...rest: unknown[]) => {
        this.#take(typeof text === 'string' ? text : Buffer.from(text).toString());
        const done = rest.at(-1);
        if (typeof done === 'function') process.nextTick(done);
        return true;
      }) as Write;
    }
  }

  /** Writes go where they belong again. */
  release(): void {
    for (const [index, stream] of this.#streams.entries()) stream.write = this.#writes[index]!;
  }

  /** What was caught, oldest first, for a terminal that scrolls. */
  drain(): string[] {
    const lines = [...this.#lines, ...(this.#rest === '' ? [] : [this.#rest])];
    this.#lines = [];
    this.#rest = '';
    return lines;
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    this.#lines = [...this.#lines, ...lines].slice(-KEPT);
    for (const line of lines) if (line.trim() !== '') this.onLine(line);
  }
}
