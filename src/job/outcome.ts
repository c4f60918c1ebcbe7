/** How one run of a handler ended, as the sandbox saw it. */
export type Outcome =
  | { kind: 'exited'; code: number }
  | { kind: 'signaled'; signal: string | null }
  | { kind: 'timeout'; afterMs: number }
  /** The sandbox went away; the command may have run. */
  | { kind: 'lost'; reason: string };

/** Whether the job's work is done: nothing but exit status 0 is. */
export function succeeded(outcome: Outcome): boolean {
  return outcome.kind === 'exited' && outcome.code === 0;
}

/** The outcome in words. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'exited':
      return `exit status ${outcome.code}`;
    case 'signaled':
      return outcome.signal === null ? 'ended by a signal' : `ended by ${outcome.signal}`;
    case 'timeout':
      return `timed out after ${outcome.afterMs / 1000} s; everything it started was killed`;
    case 'lost':
      return `sandbox lost: ${outcome.reason}`;
  }
}
