/**
 * Every answer by its name: what a route declares, and what the OpenAPI document shows. Loaded for
 * the document only.
 */
import { z } from 'zod';
import { Advanced, Drained, Examples, Paused, ReplayStarted, SandboxInUse } from './control.js';
import {
  Arrival,
  Enqueued,
  Explanation,
  JobAnswer,
  JobWithAttempts,
  Pruned,
  Relative,
  Retried,
} from './jobs.js';
import { Info, Overview, StatsAnswer } from './overview.js';

export const ANSWERS = {
  Advanced,
  Arrivals: z.array(Arrival),
  Drained,
  Enqueued,
  Examples,
  Explanation,
  Info,
  Job: JobAnswer,
  JobPage: z.array(JobAnswer),
  JobWithAttempts,
  Lineage: z.array(Relative),
  Ok: z.object({ ok: z.literal(true) }),
  Overview,
  Paused,
  Pruned,
  ReplayStarted,
  Retried,
  SandboxInUse,
  Stats: StatsAnswer,
};

export type AnswerName = keyof typeof ANSWERS;
