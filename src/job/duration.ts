const UNITS: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A hundred years: a date this far from one of today can be written, and stored by Postgres. */
const LONGEST_MS = 36_525 * 86_400_000;

/**
 * Reads `90`, `1.5s`, `250ms`, `5m`, `2h`, `1d`, or several in a row (`1h30m`), and what
 * `formatDuration` prints (`2 min 5 s`). A bare number is seconds.
 * @returns milliseconds, or undefined when the text is no duration or one of more than 100 years.
 */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  let total = 0;
  if (/^\d+(\.\d+)?$/.test(trimmed)) {
    total = Number(trimmed) * UNITS.s!;
  } else {
    if (!/^(\d+(\.\d+)? ?(ms|s|min|m|h|d) ?)+$/.test(trimmed)) return undefined;
    for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?) ?(ms|s|min|m|h|d)/g)) {
      total += Number(amount) * UNITS[unit!]!;
    }
  }
  return total <= LONGEST_MS ? Math.round(total) : undefined;
}

/** `850 ms`, `1.5 s`, `2 min 5 s`, `3 h 10 min`, `2 d 4 h`: two units at most. */
export function formatDuration(milliseconds: number): string {
  const ms = Math.max(0, Math.round(milliseconds));
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1).replace(/\.0$/, '')} s`;
  const seconds = Math.floor(ms / 1_000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}

/** As `formatDuration`, for columns: `53.2s`, `2m42s`. */
export function compactDuration(milliseconds: number): string {
  return formatDuration(milliseconds).replaceAll(' min', 'm').replaceAll(' ', '');
}
