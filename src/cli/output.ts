/** Where a command's words go: results to stdout, everything else to stderr. */
import { styleText } from 'node:util';
import type { JobqError } from '../errors.js';
import { stringify } from '../json.js';

type Style = Parameters<typeof styleText>[0];

export interface OutputFlags {
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

export class Output {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Whether the progress line is on the screen and has to be wiped first. */
  #progress = false;

  constructor(
    flags: OutputFlags,
    private readonly stdout: NodeJS.WriteStream = process.stdout,
    private readonly stderr: NodeJS.WriteStream = process.stderr,
  ) {
    this.json = flags.json ?? false;
    this.quiet = flags.quiet ?? false;
    this.verbose = flags.verbose ?? false;
    // `jobq-dev … | head` closes the pipe early: that is no error of ours.
    for (const stream of [stdout, stderr]) {
      stream.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE') throw error;
      });
    }
  }

  get onTerminal(): boolean {
    return this.stdout.isTTY === true && process.env.TERM !== 'dumb';
  }

  /** Columns of the terminal; elsewhere nothing is cut. */
  get columns(): number {
    return this.stdout.columns ?? Number.POSITIVE_INFINITY;
  }

  /** A line of the result, for people. Nothing under `--json`. */
  line(text = ''): void {
    this.#wipe();
    if (!this.json) this.stdout.write(`${text}\n`);
  }

  /** The result under `--json`: a value, or JSON text as it came. */
  document(value: unknown): void {
    if (this.json) this.stdout.write(`${typeof value === 'string' ? value : stringify(value)}\n`);
  }

  /** Something beside the result: goes to stderr, not under `--quiet`. */
  note(text: string): void {
    this.#wipe();
    if (!this.quiet) this.stderr.write(`${text}\n`);
  }

  warn(text: string): void {
    this.#wipe();
    this.stderr.write(`${this.paint('yellow', 'warning:', this.stderr)} ${text}\n`);
  }

  /** What is wrong and what to do, one line each; under `--json` as a document too. */
  error(error: unknown): void {
    this.#wipe();
    const known = error as Partial<JobqError> & Error;
    const message = known instanceof Error ? known.message : String(error);
    this.stderr.write(`${this.paint('red', 'error:', this.stderr)} ${message}\n`);
    if (known.hint !== undefined) this.stderr.write(`  ${known.hint}\n`);
    if (this.verbose && known.stack !== undefined) this.stderr.write(`${known.stack}\n`);
    this.document({
      error: { code: known.code ?? 'internal', message, ...(known.hint && { hint: known.hint }) },
    });
  }

  /** One line that is overwritten by the next; only on a terminal. */
  progress(text: string): void {
    if (this.stderr.isTTY !== true || this.quiet || process.env.TERM === 'dumb') return;
    const room = Math.max(10, (this.stderr.columns ?? 80) - 1);
    this.stderr.write(`\r\x1b[K${text.slice(0, room)}`);
    this.#progress = true;
  }

  /** Colour where it shows: on a terminal, without NO_COLOR. */
  paint(style: Style, text: string, stream: NodeJS.WriteStream = this.stdout): string {
    const plain =
      stream.isTTY !== true || Boolean(process.env.NO_COLOR) || process.env.TERM === 'dumb';
    return plain ? text : styleText(style, text);
  }

  #wipe(): void {
    if (this.#progress) this.stderr.write('\r\x1b[K');
    this.#progress = false;
  }
}
