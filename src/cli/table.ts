import { cut, displayWidth, pad } from '../columns.js';

/** Columns that stay aligned whatever is in them; the last one is cut to the room there is. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  options: { columns: number; right?: readonly number[] },
): string[] {
  const widths = header.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map((cell) => displayWidth(cell))),
  );
  const last = header.length - 1;
  return [header, ...rows].map((row) => {
    const before = row
      .slice(0, last)
      .map((cell, column) => pad(cell, widths[column]!, options.right?.includes(column) ?? false))
      .join('  ');
    const room = Math.max(8, options.columns - displayWidth(before) - 2);
    const end = row[last] ?? '';
    const fitted = options.right?.includes(last) ? pad(end, widths[last]!, true) : cut(end, room);
    return `${before}${before === '' ? '' : '  '}${fitted}`.trimEnd();
  });
}
