/**
 * The emulator's slots: each attempt keeps its place while it runs, so that no row jumps when
 * another one ends. `undefined` is a free slot.
 */
import type { Running } from '../../src/api/contract.js';

/** An attempt under way, and the end of what it wrote, as it came. */
export interface Slot extends Running {
  tail: string;
}

export type Slots = readonly (Slot | undefined)[];

/** Puts an attempt into the first free slot; one more where there is none. */
export function occupy(slots: Slots, slot: Slot): Slots {
  const at = slots.findIndex((other) => other?.claim_id === slot.claim_id);
  const place = at >= 0 ? at : slots.indexOf(undefined);
  return place < 0 ? [...slots, slot] : slots.with(place, slot);
}

/** Frees the slots that `over` says are. */
export function free(slots: Slots, over: (slot: Slot) => boolean): Slots {
  return slots.map((slot) => (slot !== undefined && over(slot) ? undefined : slot));
}

/** The slots after a fresh list of what runs, each in the place it had. */
export function arrange(slots: Slots, running: readonly Running[], concurrency: number): Slots {
  const fresh = new Map(running.map((run) => [run.claim_id, run]));
  const kept: (Slot | undefined)[] = slots.map((slot) => {
    const run = slot && fresh.get(slot.claim_id);
    return run && { ...run, tail: slot.tail, last_output: slot.last_output || run.last_output };
  });
  const length = Math.max(concurrency, kept.findLastIndex((slot) => slot !== undefined) + 1);
  const places = Array.from({ length }, (_, index) => kept[index]);
  const known = new Set(kept.map((slot) => slot?.claim_id));
  return running
    .filter((run) => !known.has(run.claim_id))
    .reduce<Slots>((filled, run) => occupy(filled, { ...run, tail: '' }), places);
}
