import { constants } from 'node:os';

// Of several names for one number the first is the usual one: SIGABRT, not SIGIOT.
const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, n]) => [n, name]),
);

/** The name of a signal, e.g. `SIGKILL`; undefined for numbers without one (real-time signals). */
export function signalName(number: number): string | undefined {
  return SIGNAL_NAMES.get(number);
}
