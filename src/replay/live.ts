import { setTimeout as delay } from 'node:timers/promises';
import { ask, type Send } from '../api/client.js';
import type { Info } from '../api/contract.js';
import { RawJson } from '../json.js';
import { type FixtureJob, readFixture } from './fixture.js';

export interface LiveOptions {
  fixture: string;
  send: Send;
  /** Seconds of the burst in a second of real time. */
  speed: number;
  signal: AbortSignal;
  onSent?: (jobs: number, atMs: number) => void;
}

/** Jobs that one request carries. */
const TOGETHER = 500;

/**
 * Sends a burst to a running emulator in real time.
 * @returns how many jobs were sent; fewer than there are when it was interrupted.
 */
export async function playLive(options: LiveOptions): Promise<number> {
  const { fixture, send, speed, signal, onSent } = options;
  const startedAt = performance.now();
  let sent = 0;
  let batch: FixtureJob[] = [];
  const flush = async () => {
    if (batch.length === 0) return;
    const elapsedMs = performance.now() - startedAt;
    const now = batch.some(({ runAfterMs }) => runAfterMs !== undefined)
      ? await emulatorNow(send)
      : undefined;
    await ask(
      send,
      'POST',
      '/jobs',
      batch.map((job) => body(job, { now, elapsedMs, speed })),
    );
    sent += batch.reduce((sum, job) => sum + job.count, 0);
    onSent?.(sent, batch.at(-1)!.atMs);
    batch = [];
  };
  for await (const job of readFixture(fixture)) {
    const waitMs = job.atMs / speed - (performance.now() - startedAt);
    if (waitMs > 0 || batch.length >= TOGETHER) await flush();
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return sent;
    batch.push(job);
  }
  await flush();
  return sent;
}

/** The emulator's time, which may be ahead of this machine's. */
async function emulatorNow(send: Send): Promise<number> {
  const { now } = JSON.parse(await ask(send, 'GET', '/info')) as Pick<Info, 'now'>;
  return Date.parse(now);
}

function body(
  job: FixtureJob,
  { now, elapsedMs, speed }: { now: number | undefined; elapsedMs: number; speed: number },
): object {
  return {
    kind: job.kind,
    payload: new RawJson(job.payload),
    count: job.count,
    ...(job.maxAttempts !== undefined && { max_attempts: job.maxAttempts }),
    ...(job.runAfterMs !== undefined &&
      now !== undefined && {
        run_after: new Date(now + job.runAfterMs / speed - elapsedMs).toISOString(),
      }),
  };
}
