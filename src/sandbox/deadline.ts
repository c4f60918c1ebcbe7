/** A timer of any length. Node fires a longer one at once (with a warning) instead of late. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Calls `action` once after `delayMs`, which may be longer than a timer can hold, or Infinity for
 * never. Gives a function that cancels it.
 */
export function after(delayMs: number, action: () => void): () => void {
  const end = performance.now() + delayMs;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const leftMs = Math.ceil(end - performance.now());
    if (leftMs <= 0) action();
    else timer = setTimeout(wait, Math.min(leftMs, LONGEST_TIMER_MS));
  };
  timer = setTimeout(wait, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
  return () => clearTimeout(timer);
}
