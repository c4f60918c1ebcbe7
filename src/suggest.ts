import { closest, distance } from 'fastest-levenshtein';

/** Longer than any name; the distance to megabytes of text takes seconds. */
const LONGEST = 200;

/** `, did you mean "…"?` for the nearest of `known`, or nothing when none is near. */
export function didYouMean(given: string, known: readonly string[]): string {
  if (known.length === 0 || given.length > LONGEST) return '';
  const nearest = closest(given, known);
  const allowed = Math.max(2, Math.floor(given.length / 3));
  return distance(given, nearest) <= allowed && nearest !== given
    ? `, did you mean ${JSON.stringify(nearest)}?`
    : '';
}
