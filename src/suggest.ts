import { closest, distance } from 'fastest-levenshtein';

/** Longer than any name; the distance to megabytes of text takes seconds. */
const LONGEST = 200;

/**
 * `, did you mean "…"?` for the nearest of `known`, or nothing when none is near.
 * @param endings one of these too much is near, however short the name.
 */
export function didYouMean(
  given: string,
  known: readonly string[],
  endings: readonly string[] = [],
): string {
  if (known.length === 0 || given.length > LONGEST) return '';
  const whole = known.find((name) => endings.some((ending) => given === name + ending));
  const nearest = whole ?? closest(given, known);
  const allowed = Math.max(2, Math.floor(given.length / 3));
  const isNear = distance(given, nearest) <= allowed && nearest !== given;
  return whole !== undefined || isNear ? `, did you mean ${JSON.stringify(nearest)}?` : '';
}
