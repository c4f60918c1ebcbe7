import { createHash } from 'node:crypto';

/**
 * How long a failed job waits: a pure function of the attempts used so far (1 after the first
 * failure) and a random number in [0, 1). Milliseconds.
 */
export type RetryPolicy = (attempts: number, random: number) => number;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** No delay is longer, so no attempts count overflows a Postgres interval. */
export const RETRY_CEILING_MS = 24 * 60 * MINUTE;

export const RETRY_POLICIES = {
  /** 2^attempts × 60 s + 0…30 s */
  minutes: (attempts, random) =>
    Math.min(2 ** attempts * MINUTE + Math.floor(random * 30 * SECOND), RETRY_CEILING_MS),
  /** 2^(attempts−1) × 5 s plus up to 20 % */
  seconds: (attempts, random) =>
    Math.min(Math.floor(2 ** (attempts - 1) * 5 * SECOND * (1 + 0.2 * random)), RETRY_CEILING_MS),
} as const satisfies Record<string, RetryPolicy>;

export type RetryPolicyName = keyof typeof RETRY_POLICIES;

/**
 * A random number in [0, 1) for one attempt of one job. It is drawn per seed, job and attempt, not
 * from one stream, so the order in which jobs fail does not change anyone's jitter.
 */
export function jitter(seed: string | undefined, jobId: string, attempt: number): number {
  if (seed === undefined) return Math.random();
  const hash = createHash('sha256').update(`${seed}\0${jobId}\0${attempt}`).digest();
  return hash.readUIntBE(0, 6) / 2 ** 48;
}
