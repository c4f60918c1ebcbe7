/** Answers of what steers the emulator. */
import { z } from 'zod';
import { count, milliseconds, time } from './scalars.js';

/** `POST /drain` */
export const Drained = z.object({
  claimed: count,
  done: count,
  retried: count,
  dead: count,
  reaped: count,
});

/** `POST /advance` */
export const Advanced = z.object({
  now: time,
  offset_ms: milliseconds,
  /** Slots of the schedule that were passed; one tick catches up on all of them. */
  ticks: count,
});
export type Advanced = z.infer<typeof Advanced>;

/** `POST /pause`, `POST /resume` */
export const Paused = z.object({ paused: z.boolean() });
export type Paused = z.infer<typeof Paused>;

/** `POST /replay` */
export const ReplayStarted = z.object({
  id: z.string(),
  jobs: count,
});
export type ReplayStarted = z.infer<typeof ReplayStarted>;

/** `POST /examples` */
export const Examples = z.object({ dir: z.string(), created: z.array(z.string()) });
export type Examples = z.infer<typeof Examples>;
