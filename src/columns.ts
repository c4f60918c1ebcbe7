/** Text in a terminal's columns: how wide it is, cut and filled to a width. */
import stringWidth from 'string-width';

/** What counts one column a character, whatever it is: most text there is. */
const PLAIN = /^[\x20-\x7e]*$/;

/** How many columns a terminal takes for it. */
export function displayWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

/** Filled with spaces to `width` columns; longer text stays as it is. */
export function pad(text: string, width: number, right = false): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? space + text : text + space;
}

/** Units per column that `cut` looks at: no character that people write takes as many. */
const UNITS_PER_COLUMN = 32;

/** At most `width` terminal columns, `…` in place of what was cut. */
export function cut(text: string, width: number): string {
  if (width < 1) return '';
  // Only what can fit is looked at: to measure a log line of a megabyte takes a second.
  const near = text.slice(0, UNITS_PER_COLUMN * (width + 1));
  if (PLAIN.test(near)) return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
  let fitted = '';
  let last = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(near)) {
    fitted += last;
    last = '';
    used += displayWidth(segment);
    if (used > width) return `${fitted}…`;
    if (used < width) last = segment;
  }
  return near.length === text.length ? text : `${fitted}…`;
}
