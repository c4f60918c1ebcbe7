import { z } from 'zod';

/** An error, as RFC 9457 has it, with this tool's code and what to do. */
export const Problem = z
  .object({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    /** What is wrong, with the value. */
    detail: z.string(),
    code: z.string(),
    /** What to do about it. */
    hint: z.string().optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;
