import { setTimeout as delay } from 'node:timers/promises';
import { JobqError } from '../errors.js';

const SHORTEST_PAUSE_MS = 100;
/** Soon after a database is back, what was kept for it is written. */
const LONGEST_PAUSE_MS = 1_000;

/**
 * Does `work`, and tries again while the database is away: for `forMs` of real time, or until
 * `signal` ends it, also in the middle of a try. There is always one try.
 * @throws what the last try threw.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  { forMs, signal }: { forMs: number; signal: AbortSignal },
): Promise<T> {
  const until = performance.now() + forMs;
  for (let pause = SHORTEST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await unlessAborted(work(), signal);
    } catch (error) {
      const away = error instanceof JobqError && error.code === 'database-unreachable';
      if (!away || signal.aborted || performance.now() + pause > until) throw error;
      await delay(pause, undefined, { signal }).catch(() => {});
    }
  }
}

/** @throws JobqError `database-unreachable` when the signal comes before the answer. */
export function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () =>
      reject(new JobqError('database-unreachable', 'the database did not answer in time'));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
