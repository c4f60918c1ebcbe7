/**
 * Ways to break the queue, each with what must notice. The texts are those of dist/src: a mutant whose
 * text is gone fails, so that this table stays true.
 */
import type { Break } from './broken-queue.js';

export interface Mutant extends Break {
  /** What a person would call it. */
  what: string;
  /** A constraint of the database that would stop it first; it is dropped. */
  without?: Constraint;
  seenBy: Noticed;
}

export interface Constraint {
  table: string;
  name: string;
  definition: string;
}

type Noticed =
  /** Sequences on PGlite, with nothing but the invariants to notice. */
  | { invariant: string }
  /** Sequences on PGlite, held against the model. */
  | { model: string }
  /** Races on Postgres. */
  | { race: string }
  /** Interleavings on Postgres, by name; each of them must notice. */
  | { scenes: string[] };
