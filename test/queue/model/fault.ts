import type { Call } from './resolve.js';

/** What was played, so that a search that searched nothing shows. */
export class Tally {
  steps = 0;
  /** Calls of settle, release and heartbeat with a claim that is not held any more. */
  late = 0;
  /** Jobs that were claimed. */
  claimed = 0;
}

/** What one step came to was not what it had to be. */
export class Fault extends Error {
  override readonly name = 'Fault';
  constructor(
    /** What broke: an invariant, or what was compared. */
    readonly rule: string,
    what: string,
    calls: readonly Call[],
  ) {
    const made = calls.map(({ by, action }) => `  drainer ${by}: ${JSON.stringify(action)}`);
    super([`Broken: ${rule}`, what, 'After the calls:', ...made].join('\n'));
  }
}
