/** Ctrl-C and its relatives (DESIGN: "The command line"). */

/** npm delivers one Ctrl-C twice, to itself and to its child: within this time it is the first. */
const SAME_INTERRUPT_MS = 1_000;

/** The exit status of an interrupted command. */
export const INTERRUPTED = 130;

export interface Interrupt {
  /** True from the first signal on. */
  readonly interrupted: boolean;
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** A key that asks for the same as Ctrl-C: in raw mode there is no signal. */
  raise(): void;
  /** Stops listening. */
  release(): void;
}

/**
 * Calls `first` at the first SIGINT, SIGTERM or SIGHUP, and `again` at each further one that comes
 * a second or more after the first.
 */
export function onInterrupt(first: () => void, again: () => void = () => {}): Interrupt {
  const controller = new AbortController();
  let since: number | undefined;
  const listener = () => {
    if (since === undefined) {
      since = performance.now();
      controller.abort();
      first();
    } else if (performance.now() - since >= SAME_INTERRUPT_MS) {
      again();
    }
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, listener);
  return {
    get interrupted() {
      return since !== undefined;
    },
    signal: controller.signal,
    raise: listener,
    release() {
      for (const name of signals) process.off(name, listener);
    },
  };
}
