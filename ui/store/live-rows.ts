import type { Slots } from './slots.js';
import type { State } from './state.js';

/** What can be selected in the live panel: the slots, then what happened. */
export function liveKeys({ slots, feed }: Pick<State, 'slots' | 'feed'>): string[] {
  return [...slots.map((_slot, index) => `slot ${index}`), ...feed.map(({ id }) => id)];
}

/** The job that a row of the live panel is about. */
export function liveJob(
  { slots, feed }: { slots: Slots; feed: State['feed'] },
  index: number,
): string | undefined {
  return index < slots.length ? slots[index]?.job.id : feed[index - slots.length]?.job;
}
