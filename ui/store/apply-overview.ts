import { isDeepStrictEqual } from 'node:util';
import type { Overview, StreamEvent } from '../../src/api/contract.js';
import { applyEvent } from './apply-event.js';
import { arrange } from './slots.js';
import type { State } from './state.js';

/**
 * The state after a fresh overview.
 * @param since events that came while it was asked for: those it does not contain yet are applied
 *   again.
 */
export function applyOverview(
  state: State,
  overview: Overview,
  since: readonly StreamEvent[],
  now: number,
): State {
  if (since.length === 0 && state.link === 'live' && sameButLater(state.overview, overview)) {
    return state;
  }
  const fresh: State = {
    ...state,
    link: 'live',
    overview,
    slots: arrange(state.slots, overview.running, overview.info.concurrency),
    skewMs: steady(state.skewMs, Date.parse(overview.info.now) - now),
  };
  const last = since.findIndex(({ id }) => id === overview.event_id);
  const missing = last < 0 ? since : since.slice(last + 1);
  // The feed and the totals have these already.
  const { feed, totals } = state;
  return { ...missing.reduce(applyEvent, fresh), feed, totals };
}

/** Whether nothing has happened between two overviews but time. */
function sameButLater(before: Overview | undefined, after: Overview): boolean {
  if (before === undefined) return false;
  const timeless = ({ info, stats, ...rest }: Overview) => ({
    ...rest,
    info: { ...info, now: '' },
    stats: { ...stats, oldest_waiting_ms: stats.oldest_waiting_ms === null },
  });
  return isDeepStrictEqual(timeless(before), timeless(after));
}

/** An answer's way here takes a moment, each time another: that is no movement of the clock. */
const SAME_MS = 250;

function steady(before: number, after: number): number {
  return Math.abs(after - before) < SAME_MS ? before : after;
}
