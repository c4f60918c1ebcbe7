import type { Key } from '../keys/dispatch.js';
import { readKeys } from './keys.js';
import { Painter } from './painter.js';
import { StrayWrites } from './stray.js';

const ESC = '\u001b[';
/** Alternate screen, no cursor, no wrapping at the edge, pastes marked as such. */
const ENTER = `${ESC}?1049h${ESC}2J${ESC}H${ESC}?25l${ESC}?7l${ESC}?2004h`;
const LEAVE = `${ESC}?2026l${ESC}?2004l${ESC}?7h${ESC}0m${ESC}?25h${ESC}?1049l`;

export interface TerminalOptions {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  onKey: (key: Key) => void;
  onResize: (size: { columns: number; rows: number }) => void;
  /** A line that something else wanted to write. */
  onLine: (line: string) => void;
}

/** The user's terminal: taken for the screen, and always given back as it was. */
export class Terminal {
  readonly painter: Painter;
  readonly #options: TerminalOptions;
  readonly #write: (text: string) => void;
  readonly #stray: StrayWrites;
  #stopKeys: (() => void) | undefined;
  #taken = false;
  #over = false;
  #lent: Promise<unknown> = Promise.resolve();

  constructor(options: TerminalOptions) {
    const { stdout, stderr, onLine } = options;
    this.#options = options;
    // Kept before writes are caught: the screen itself still reaches the terminal.
    const write = stdout.write.bind(stdout);
    this.#write = (text) => void write(text);
    this.#stray = new StrayWrites([stdout, stderr], onLine);
    this.painter = new Painter({
      get columns() {
        return Math.max(1, stdout.columns);
      },
      write: this.#write,
    });
  }

  get size(): { columns: number; rows: number } {
    const { columns, rows } = this.#options.stdout;
    return { columns: Math.max(1, columns), rows: Math.max(1, rows) };
  }

  /** Takes the terminal: from now on frames are painted and keys are read. */
  take(): void {
    if (this.#taken) return;
    this.#taken = true;
    const { stdin, stdout } = this.#options;
    this.#stray.catch();
    this.#write(ENTER);
    this.painter.open();
    stdin.setRawMode(true);
    this.#stopKeys = readKeys(stdin, this.#options.onKey);
    stdin.resume();
    stdout.on('resize', this.#resized);
    // Also where nothing else comes to it: a crash, an exit from elsewhere.
    process.on('exit', this.giveBack);
    process.on('uncaughtExceptionMonitor', this.giveBack);
  }

  /** Gives the terminal back as it was. Idempotent, and done at once. */
  readonly giveBack = (): void => {
    if (!this.#taken) return;
    this.#taken = false;
    const { stdin, stdout } = this.#options;
    process.off('exit', this.giveBack);
    process.off('uncaughtExceptionMonitor', this.giveBack);
    stdout.off('resize', this.#resized);
    this.#stopKeys?.();
    // A terminal that is gone needs nothing back.
    try {
      stdin.setRawMode(false);
    } catch {}
    stdin.pause();
    this.painter.close();
    this.#stray.release();
    this.#write(LEAVE);
    for (const line of this.#stray.drain()) this.#options.stderr.write(`${line}\n`);
  };

  /** Gives the terminal to another program until `work` is over; one program at a time. */
  lend<T>(work: () => Promise<T>): Promise<T> {
    const lent = this.#lent.then(async () => {
      this.giveBack();
      try {
        return await work();
      } finally {
        if (!this.#over) this.take();
      }
    });
    this.#lent = lent.catch(() => {});
    return lent;
  }

  /** Gives the terminal back for good. */
  close(): void {
    this.#over = true;
    this.giveBack();
  }

  /** Puts a text into the clipboard, where the terminal allows it (OSC 52). */
  copy(text: string): void {
    this.#write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
  }

  readonly #resized = (): void => {
    this.painter.repaint();
    this.#options.onResize(this.size);
  };
}
