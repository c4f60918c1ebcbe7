/** How the screen is divided, by its size. */
export interface Layout {
  /** Lines of the header. */
  header: number;
  /** The line of tabs. */
  tabs: number;
  /** Lines of the panel. */
  body: number;
  /** A line for messages and questions; without one they stand in the line of keys. */
  message: number;
  /** The line of keys. */
  keys: number;
}

export function layoutOf({ rows }: { rows: number }): Layout {
  const fixed =
    rows >= 20
      ? { header: 4, tabs: 1, message: 1, keys: 1 }
      : rows >= 14
        ? { header: 3, tabs: 1, message: 0, keys: 1 }
        : rows >= 7
          ? { header: 2, tabs: 1, message: 0, keys: 1 }
          : rows >= 4
            ? { header: 1, tabs: 0, message: 0, keys: 1 }
            : { header: 1, tabs: 0, message: 0, keys: 0 };
  const { header, tabs, message, keys } = fixed;
  return { ...fixed, body: Math.max(0, rows - header - tabs - message - keys) };
}

/** Lines of a panel below which it has no line of column titles. */
const TITLES_FROM = 6;

export function listLayout({ body }: Layout): { titles: number; rows: number } {
  const titles = body >= TITLES_FROM ? 1 : 0;
  return { titles, rows: Math.max(0, body - titles) };
}

/** The live panel: slots above, what happened below. */
export function liveLayout({ body }: Layout, slots: number) {
  const titles = body >= TITLES_FROM ? 1 : 0;
  const shown = Math.min(slots, Math.max(1, Math.floor((body - titles) / 2)));
  const rule = body - titles - shown >= 3 ? 1 : 0;
  return { titles, slots: shown, rule, feed: Math.max(0, body - titles - shown - rule) };
}

/** The view of a job: what is known of it, its tabs, and the text of the chosen one. */
export function jobLayout({ body }: Layout, facts: number) {
  const shown = body >= 12 ? Math.min(facts, Math.floor(body / 2)) : body >= 6 ? 1 : 0;
  const tabs = body >= 4 ? 1 : 0;
  return { facts: shown, tabs, text: Math.max(0, body - shown - tabs) };
}
