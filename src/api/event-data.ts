/** The emulator's events as the stream tells them. */
import type { EventMap } from '../events.js';
import type { Job } from '../job/job.js';
import { headline } from '../job/text.js';
import type { EventData } from './contract.js';
import { jobLine } from './job-line.js';

/** Output is told apart: it is gathered first (live-output.ts). */
type Told = Exclude<keyof EventMap, 'output'>;

type Tellers = {
  [Name in Told]: (event: EventMap[Name][0], now: Date) => EventData[Name] | undefined;
};

/** What is told of each event; undefined: nothing. */
export const EVENT_DATA: Tellers = {
  tick: ({ at, cause }) => ({ at: iso(at), cause }),
  drained: ({ at, counts }) => ({ at: iso(at), counts: { ...counts } }),
  claimed: ({ at, job, provider, isolation, timeoutMs }) => ({
    at: iso(at),
    job: jobLine(job),
    claim_id: job.claim_id,
    provider,
    isolation,
    timeout_ms: timeoutMs,
  }),
  settled: ({ at, job, status, outcome, error, durationMs, peakMemoryBytes, runAfter }) => ({
    at: iso(at),
    job: jobLine({
      ...job,
      status,
      run_after: runAfter ?? job.run_after,
      last_error: status === 'done' ? job.last_error : error,
    }),
    claim_id: job.claim_id,
    outcome: outcome.kind,
    error: error === null ? null : headline(error),
    duration_ms: durationMs,
    peak_memory_bytes: peakMemoryBytes ?? null,
  }),
  superseded: ({ at, job, outcome }) => ({
    at: iso(at),
    job: jobLine(job),
    claim_id: job.claim_id,
    outcome: outcome.kind,
  }),
  released: ({ at, job }) => ({
    at: iso(at),
    job: jobLine(givenBack(job)),
    claim_id: job.claim_id,
  }),
  reaped: ({ at, job, why }) => ({ at: iso(at), job: jobLine(job), why }),
  enqueued: ({ at, ids }) => {
    const [first_id] = ids;
    const last_id = ids.at(-1);
    if (first_id === undefined || last_id === undefined) return undefined;
    return { at: iso(at), count: ids.length, first_id, last_id };
  },
  changed: ({ at, job, count }) => ({ at: iso(at), job: job ? jobLine(job) : null, count }),
  clock: ({ at, offsetMs }) => ({ at: iso(at), offset_ms: offsetMs }),
  paused: ({ at, paused }) => ({ at: iso(at), paused }),
  sandbox: ({ at, ...sandbox }) => ({ at: iso(at), ...sandbox }),
  database: ({ at, reachable, message }) => ({ at: iso(at), reachable, message }),
  warning: ({ message }, now) => ({ at: iso(now), message }),
};

function givenBack(job: Job): Job {
  return { ...job, status: 'pending', attempts: Math.max(0, job.attempts - 1) };
}

function iso(at: Date): string {
  return at.toISOString();
}
