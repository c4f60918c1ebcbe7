/**
 * What each event adds to the metrics, as small plain values: so that they can be kept until the
 * library that sums them up is loaded.
 */
import type { EventMap } from '../../events.js';
import type { CounterName, HistogramName } from './definitions.js';

export interface Sample {
  name: CounterName | HistogramName;
  labels: Record<string, string>;
  value: number;
}

type Samplers = { [Name in keyof EventMap]?: (event: EventMap[Name][0]) => Sample[] };

const one = (name: CounterName, labels: Record<string, string> = {}): Sample => ({
  name,
  labels,
  value: 1,
});

export const SAMPLERS: Samplers = {
  tick: ({ cause, lateMs }) => [
    one('jobq_ticks_total', { cause }),
    ...(lateMs === undefined
      ? []
      : [{ name: 'jobq_tick_lateness_seconds' as const, labels: {}, value: lateMs / 1_000 }]),
  ],
  claimed: ({ job }) => [one('jobq_claims_total', { kind: job.kind })],
  settled: ({ job, status, outcome, durationMs, sandboxStartMs, provider }) => [
    one('jobq_attempts_total', {
      kind: job.kind,
      outcome: outcome.kind,
      result: status === 'pending' ? 'retried' : status,
    }),
    // An attempt without a sandbox ran nothing that could be measured.
    ...(sandboxStartMs === undefined
      ? []
      : ([
          {
            name: 'jobq_attempt_duration_seconds',
            labels: { kind: job.kind },
            value: durationMs / 1_000,
          },
          {
            name: 'jobq_sandbox_start_seconds',
            labels: { provider },
            value: sandboxStartMs / 1_000,
          },
        ] satisfies Sample[])),
  ],
  superseded: () => [one('jobq_superseded_total')],
  released: () => [one('jobq_released_total')],
  reaped: ({ why }) => [one('jobq_reaped_total', { why })],
  enqueued: ({ ids }) => [{ name: 'jobq_enqueued_total', labels: {}, value: ids.length }],
};
