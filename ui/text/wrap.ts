import { displayWidth } from '../../src/columns.js';

const segmenter = new Intl.Segmenter();

/** A line in pieces of at most `width` columns each. */
export function wrap(line: string, width: number): string[] {
  const room = Math.max(1, width);
  if (/^[\x20-\x7e]*$/.test(line)) {
    const pieces = [];
    for (let start = 0; start < line.length; start += room) {
      pieces.push(line.slice(start, start + room));
    }
    return pieces.length === 0 ? [''] : pieces;
  }
  const widths = new Map<string, number>();
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const { segment } of segmenter.segment(line)) {
    let columns = widths.get(segment);
    if (columns === undefined) {
      columns = displayWidth(segment);
      widths.set(segment, columns);
    }
    if (used + columns > room && piece !== '') {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += segment;
    used += columns;
  }
  return [...pieces, piece];
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
