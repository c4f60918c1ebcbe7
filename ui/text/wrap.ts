import { displayWidth } from '../../src/columns.js';

const segmenter = new Intl.Segmenter();

/** Units that are segmented at a time: what a segmenter costs grows with the square of its text. */
const TOGETHER = 1_000;

/** A line in pieces of at most `width` columns each. */
export function wrap(line: string, width: number): string[] {
  const room = Math.max(1, width);
  if (/^[\x20-\x7e]*$/.test(line)) return slices(line, room);
  const widths = new Map<string, number>();
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const character of characters(line)) {
    const columns = widths.get(character) ?? displayWidth(character);
    widths.set(character, columns);
    if (used + columns > room && piece !== '') {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += character;
    used += columns;
  }
  return [...pieces, piece];
}

/** Of text in which each character is a unit and a column. */
function slices(line: string, length: number): string[] {
  const count = Math.max(1, Math.ceil(line.length / length));
  return Array.from({ length: count }, (_, index) =>
    line.slice(index * length, (index + 1) * length),
  );
}

// Marks, halves of flags, Hangul in parts: only with these is a character more than a code point.
const JOINED =
  /[\p{Mark}\p{Grapheme_Extend}\p{Format}\p{Regional_Indicator}\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/u;

/** What people see as characters. */
function* characters(text: string): Generator<string> {
  if (!JOINED.test(text)) {
    yield* text;
    return;
  }
  for (let start = 0; start < text.length; ) {
    const part = text.slice(start, start + TOGETHER);
    const found = [...segmenter.segment(part)];
    // The last one may go on in the next part.
    const whole =
      found.length > 1 && start + part.length < text.length ? found.slice(0, -1) : found;
    for (const { segment } of whole) yield segment;
    const last = whole.at(-1)!;
    start += last.index + last.segment.length;
  }
}

/** Sentences in lines of at most `width` columns, broken between words where that is possible. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = wrap(word, width);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1)!;
  }
  return [...lines, line];
}
