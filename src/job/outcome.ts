/** How one run of a handler ended, as the sandbox saw it. */
export type Outcome =
  | { kind: 'exited'; code: number }
  | { kind: 'signaled'; signal: string | null }
  | { kind: 'timeout'; afterMs: number }
  /** The sandbox went away; the command may have run. */
  | { kind: 'lost'; reason: string };
