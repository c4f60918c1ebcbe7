/** What ends a turn before its statement has run, and how another turn goes on with it. */
import type { CopyData } from './copy-in.js';
import type { Unit } from './units.js';

/**
 * Thrown for a statement that wants an advisory lock which another client's session holds: the turn
 * must end so that the other can let go of it, and all of it is repeated in another turn.
 */
export class MustWait extends Error {
  constructor(
    readonly key: string,
    readonly again: Again,
  ) {
    super(`waits for the advisory lock ${key}`);
  }
}

/** Thrown for a COPY FROM STDIN on its own: others have the session while its data comes. */
export class MustCollect extends Error {}

/** What is to be done in a turn. */
export interface Again {
  /** Texts of which the client has the answers, such as BEGIN. */
  before: readonly string[];
  unit: Unit;
  /** For a COPY FROM STDIN whose data has come. */
  data?: CopyData;
}
