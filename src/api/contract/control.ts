/** Answers of what steers the emulator. */
import { z } from 'zod';
import { count, milliseconds, time } from './scalars.js';

/** `POST /drain` */
export const Drained = z
  .object({
    claimed: count,
    done: count,
    retried: count,
    dead: count,
    reaped: count,
  })
  .meta({ id: 'Drained' });

/** `POST /advance` */
export const Advanced = z
  .object({
    now: time,
    offset_ms: milliseconds,
    /** Ticks that this fires: one, however many slots of the schedule were passed; or none. */
    ticks: count,
  })
  .meta({ id: 'Advanced' });
export type Advanced = z.infer<typeof Advanced>;

/** `POST /sandbox`: what the next attempt runs in. */
export const SandboxInUse = z
  .object({
    provider: z.string(),
    description: z.string(),
    isolation: z.enum(['none', 'namespaces', 'microvm']),
  })
  .meta({ id: 'SandboxInUse' });
export type SandboxInUse = z.infer<typeof SandboxInUse>;

/** `POST /pause`, `POST /resume` */
export const Paused = z.object({ paused: z.boolean() }).meta({ id: 'Paused' });
export type Paused = z.infer<typeof Paused>;

/** `POST /replay`: the burst is on its way. */
export const ReplayStarted = z
  .object({ id: z.string(), jobs: count })
  .meta({ id: 'ReplayStarted' });
export type ReplayStarted = z.infer<typeof ReplayStarted>;

/** `POST /examples`: files in the handlers directory that were not there. */
export const Examples = z
  .object({ dir: z.string(), created: z.array(z.string()) })
  .meta({ id: 'Examples' });
export type Examples = z.infer<typeof Examples>;
