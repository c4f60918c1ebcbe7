const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/**
 * Values as a row of blocks, the newest at the right, each block the greatest of its share.
 * @param full what fills a block; greater values do, too.
 */
export function sparkline(values: readonly number[], width: number, full: number): string {
  const columns = Math.min(width, values.length);
  const blocks = Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * values.length) / columns);
    const to = Math.floor(((column + 1) * values.length) / columns);
    const part = Math.min(1, Math.max(...values.slice(from, to)) / full);
    return BLOCKS[Math.ceil(part * (BLOCKS.length - 1))];
  });
  return blocks.join('');
}

/** A bar that is `fraction` full (0…1), in two parts: what is full and what is not. */
export function bar(fraction: number, width: number): [full: string, rest: string] {
  const halves = Math.round(Math.min(1, Math.max(0, fraction)) * width * 2);
  const full = '━'.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '╸' : '');
  return [full, '─'.repeat(width - full.length)];
}
