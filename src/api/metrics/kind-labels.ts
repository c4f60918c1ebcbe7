/** Whoever can insert a row can make up kinds: beyond this many all further ones are one. */
const MOST_KINDS = 100;
/** Characters of a kind that a label holds. */
const LONGEST = 100;

/** What the further kinds are called together. */
export const OTHER = '(other)';

/** Names of kinds as labels, so few that nobody's time series are flooded. */
export class KindLabels {
  readonly #known = new Set<string>();

  of(kind: string): string {
    const label = Array.from(kind.slice(0, 2 * LONGEST))
      .slice(0, LONGEST)
      .join('');
    if (!this.#known.has(label)) {
      if (this.#known.size >= MOST_KINDS) return OTHER;
      this.#known.add(label);
    }
    return label;
  }
}
