import stringWidth from 'string-width';

/** Columns that stay aligned whatever is in them; the last one is cut to the room there is. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  options: { columns: number; right?: readonly number[] },
): string[] {
  const widths = header.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map((cell) => stringWidth(cell))),
  );
  const last = header.length - 1;
  return [header, ...rows].map((row) => {
    const before = row
      .slice(0, last)
      .map((cell, column) => pad(cell, widths[column]!, options.right?.includes(column) ?? false))
      .join('  ');
    const room = Math.max(8, options.columns - stringWidth(before) - 2);
    const end = row[last] ?? '';
    const fitted = options.right?.includes(last) ? pad(end, widths[last]!, true) : cut(end, room);
    return `${before}${before === '' ? '' : '  '}${fitted}`.trimEnd();
  });
}

function pad(cell: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(cell)));
  return right ? space + cell : cell + space;
}

/** Units per column that `cut` looks at: no character that people write takes as many. */
const UNITS_PER_COLUMN = 32;

/** At most `width` terminal columns, `…` in place of what was cut. */
export function cut(text: string, width: number): string {
  // Only what can fit is looked at: to measure a log line of a megabyte takes a second.
  const near = text.slice(0, UNITS_PER_COLUMN * (width + 1));
  let fitted = '';
  let last = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(near)) {
    fitted += last;
    last = '';
    used += stringWidth(segment);
    if (used > width) return `${fitted}…`;
    if (used < width) last = segment;
  }
  return near.length === text.length ? text : `${fitted}…`;
}
