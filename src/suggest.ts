import { closest, distance } from 'fastest-levenshtein';

/** `, did you mean "…"?` for the nearest of `known`, or nothing when none is near. */
export function didYouMean(given: string, known: readonly string[]): string {
  if (known.length === 0) return '';
  const nearest = closest(given, known);
  const allowed = Math.max(2, Math.floor(given.length / 3));
  return distance(given, nearest) <= allowed && nearest !== given
    ? `, did you mean ${JSON.stringify(nearest)}?`
    : '';
}
