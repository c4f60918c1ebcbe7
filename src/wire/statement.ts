/** What a statement means for the client's own view of the session, read from its first words. */
import type { Report } from './messages.js';

/** What happens beside the engine when a statement succeeds. */
export type Effect =
  | { kind: 'prepare'; name: string; engineName: string; sql: string }
  | { kind: 'deallocate'; name: string | undefined }
  | { kind: 'listen'; channel: string }
  /** Without a channel: all. */
  | { kind: 'unlisten'; channel: string | undefined }
  | { kind: 'declare'; name: string; engineName: string }
  /** Without a name: all. */
  | { kind: 'close'; name: string | undefined }
  | { kind: 'discard'; what: 'all' | 'temp' | 'sequences' }
  | { kind: 'reset' };

/** `COPY … FROM STDIN`: the engine must get it together with its data. */
export interface CopyIn {
  /** As it is written, schema and all. */
  table: string;
  /** How many are named; undefined when all are meant. */
  columns: number | undefined;
  binary: boolean;
}

export interface Statement {
  effect?: Effect;
  copyIn?: CopyIn;
  /** What the client is to read as the command that was done, where something else is sent. */
  tag?: string;
  /** What it counts as here, where the command that is done says too little. */
  countsAs?: string;
}

export interface Analysis {
  /** What the engine is to get. */
  sql: string;
  /** Each statement of it, or none where there is nothing to note in any. */
  statements: readonly Statement[];
  /** Why the engine is not to get it. */
  refusal?: Report;
  /** It is DISCARD ALL, which must stand alone and outside of a transaction. */
  discardsAll: boolean;
  /** Prepared statements that it executes by name. */
  executes: readonly string[];
  /** May ask who the client is, or for an advisory lock. */
  identity: boolean;
  /** May ask what a sequence gave last. */
  sequences: boolean;
  /** May have made temporary objects. */
  temporary: boolean;
  /** May have changed a timeout. */
  timeouts: boolean;
  /** Settings of the app's own (`app.user`) that it names. */
  ownSettings: readonly string[];
}

/** How names of this client are called in the engine. */
export interface Names {
  /** What the names in the engine begin with. */
  readonly prefix: string;
  prepared(name: string): string | undefined;
  newPrepared(name: string): string;
  cursor(name: string): string | undefined;
  newCursor(name: string): string;
}

/** Whether it sets settings back to what the client has begun with. */
export function resets({ effect }: Statement): boolean {
  return effect?.kind === 'reset' || (effect?.kind === 'discard' && effect.what === 'all');
}
