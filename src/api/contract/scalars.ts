/** Values that many answers hold. */
import { z } from 'zod';

/** A bigint as a decimal string. */
export const id = z.string().regex(/^\d+$/);
/** ISO 8601, UTC. */
export const time = z.iso.datetime();
export const count = z.int().min(0);
export const milliseconds = z.number();
