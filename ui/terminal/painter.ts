import { EventEmitter } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../../src/columns.js';

const ESC = '\u001b[';
/** A terminal that knows these shows everything between them at once. */
const BEGIN = `${ESC}?2026h`;
const END = `${ESC}?2026l`;
const TO_END_OF_LINE = `${ESC}K`;

/** What is painted on. */
export interface Canvas {
  readonly columns: number;
  write: (text: string) => void;
}

/**
 * Paints frames: of the lines that Ink renders, those that changed are written to the terminal, each
 * at its own place.
 *
 * Ink 6.8's own way to the terminal cannot be used for a full screen: a frame as high as the terminal
 * makes it clear the screen, scrollback and all, for every frame, and its incremental mode moves by
 * lines, so that one line of an unexpected width leaves all others where they do not belong.
 */
export class Painter {
  readonly #regions: Region[] = [];
  /** What is on the screen; undefined when that is not known. */
  #shown: string[] | undefined;
  #width = 0;
  #due = false;
  #open = false;

  constructor(private readonly canvas: Canvas) {}

  /**
   * A part of the screen below those before it, as the stdout of an Ink of its own: what changes
   * every second is drawn without the rest.
   * @param height how many lines it has now.
   */
  region(height: () => number): NodeJS.WriteStream {
    const region = new Region(this.canvas, height, () => this.#paintSoon());
    this.#regions.push(region);
    return region as unknown as NodeJS.WriteStream;
  }

  /** Frames are painted from now on, over whatever there is. */
  open(): void {
    this.#open = true;
    this.repaint();
  }

  close(): void {
    this.#open = false;
  }

  /** Paints everything again: what is on the screen is not known any more. */
  repaint(): void {
    this.#shown = undefined;
    this.#paintSoon();
  }

  /** Once for all the regions that one change has drawn. */
  #paintSoon(): void {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      if (this.#open) this.#paint(this.#regions.flatMap((region) => region.lines));
    });
  }

  #paint(lines: string[]): void {
    // What a terminal does with its text when its width changes is its own business.
    if (this.#width !== this.canvas.columns) this.#shown = undefined;
    this.#width = this.canvas.columns;
    const before = this.#shown;
    let changes = before === undefined ? `${ESC}2J` : '';
    for (let row = 0; row < Math.max(lines.length, before?.length ?? 0); row += 1) {
      const line = lines[row] ?? '';
      if (line === (before?.[row] ?? '')) continue;
      changes += `${ESC}${row + 1};1H${line}${this.#fills(line) ? '' : TO_END_OF_LINE}`;
    }
    this.#shown = lines;
    if (changes !== '') this.canvas.write(`${BEGIN}${changes}${END}`);
  }

  /** After a full line the cursor stands on its last character: clearing would take that away. */
  #fills(line: string): boolean {
    return displayWidth(stripVTControlCharacters(line)) >= this.canvas.columns;
  }
}

/** What Ink takes for its stdout: each write is a whole frame. */
class Region extends EventEmitter {
  readonly isTTY = false;
  readonly writable = true;
  #frame: string[] = [];

  constructor(
    private readonly canvas: Canvas,
    private readonly height: () => number,
    private readonly onFrame: () => void,
  ) {
    super();
  }

  get columns(): number {
    return this.canvas.columns;
  }

  /** As many as it has room for, whatever was drawn. */
  get lines(): string[] {
    return Array.from({ length: this.height() }, (_, row) => this.#frame[row] ?? '');
  }

  readonly write = (frame: string, done?: () => void): boolean => {
    if (frame !== '') {
      this.#frame = frame.split('\n');
      this.onFrame();
    }
    done?.();
    return true;
  };
}
