import type { Limits } from './shared.js';

export interface IdleSituation {
  /** The client's own limit, in ms; 0 is none. It holds whether anybody waits or not. */
  ownMs: number;
  limits: Pick<Limits, 'idleInTransactionMs' | 'warnAfterMs'>;
  /** How many wait for this transaction to be over. */
  waiting(): number;
  warn(idleMs: number): void;
  end(idleMs: number): void;
}

/** How often it is looked whether somebody waits by now. */
const LOOK_EVERY_MS = 250;

/**
 * Watches a transaction that does nothing. It may stay as long as it holds up nobody.
 * @returns a function that stops watching.
 */
export function watchIdle({ ownMs, limits, waiting, warn, end }: IdleSituation): () => void {
  const started = performance.now();
  let warned = false;
  const stop = () => {
    clearInterval(looking);
    clearTimeout(own);
  };
  const over = () => {
    stop();
    end(Math.round(performance.now() - started));
  };
  const own = ownMs > 0 ? setTimeout(over, ownMs) : undefined;
  const every = Math.min(LOOK_EVERY_MS, limits.warnAfterMs, limits.idleInTransactionMs);
  const looking = setInterval(() => {
    const idleMs = performance.now() - started;
    if (waiting() === 0) return;
    if (idleMs >= limits.idleInTransactionMs) return over();
    if (warned || idleMs < limits.warnAfterMs) return;
    warned = true;
    warn(Math.round(idleMs));
  }, every);
  return stop;
}
