/** Every metric: its name, what it says, its labels. Seconds and bytes, as Prometheus has it. */

interface Definition {
  help: string;
  labels?: readonly string[];
}

export const COUNTERS = {
  jobq_claims_total: { help: 'Jobs that were claimed: due to running.', labels: ['kind'] },
  jobq_attempts_total: {
    help: 'Attempts that ended and were settled, by how the handler ended and what became of the job.',
    labels: ['kind', 'outcome', 'result'],
  },
  jobq_superseded_total: {
    help: 'Attempts that ended after their claim was gone: rejected late finishers.',
  },
  jobq_released_total: { help: 'Claims that were given back by a shutdown.' },
  jobq_reaped_total: {
    help: 'Jobs taken back by the reaper: their lease ran out, or no attempt was left.',
    labels: ['why'],
  },
  jobq_enqueued_total: { help: 'Jobs inserted through the API.' },
  jobq_ticks_total: { help: 'Ticks, by why they fired.', labels: ['cause'] },
} satisfies Record<string, Definition>;

/** From a millisecond to the default time limit. */
const ATTEMPT_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600];

export const HISTOGRAMS = {
  jobq_attempt_duration_seconds: {
    help: 'How long handlers ran.',
    labels: ['kind'],
    buckets: ATTEMPT_SECONDS,
  },
  jobq_sandbox_start_seconds: {
    help: 'How long it took until a sandbox was there.',
    labels: ['provider'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  jobq_tick_lateness_seconds: {
    help: 'How long after its slot of the schedule a tick fired.',
    labels: [],
    buckets: [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 3_600, 86_400],
  },
} satisfies Record<string, Definition & { buckets: readonly number[] }>;

export const GAUGES = {
  jobq_jobs: {
    help: 'Jobs by state; above 10,000 of one it is an estimate.',
    labels: ['status'],
  },
  jobq_queue_depth: {
    help: 'Jobs that are pending, running or dead, by kind; the kinds with the fewest are "(other)".',
    labels: ['status', 'kind'],
  },
  jobq_due_jobs: { help: 'Jobs that are due and not claimed.' },
  jobq_oldest_waiting_seconds: {
    help: 'Age of the oldest job that is due and not claimed; 0 when none is.',
  },
  jobq_running_attempts: { help: 'Attempts that run here.' },
  jobq_concurrency: { help: 'Attempts that may run here at a time.' },
  jobq_clock_offset_seconds: { help: 'How far the clock was moved ahead.' },
  jobq_paused: { help: '1 while the schedule is held.' },
  jobq_database_up: { help: '1 when the database answered this request; 0: numbers of jobs lack.' },
  jobq_info: {
    help: 'What runs here; always 1.',
    labels: ['version', 'database', 'sandbox', 'isolation'],
  },
} satisfies Record<string, Definition>;

export type CounterName = keyof typeof COUNTERS;
export type HistogramName = keyof typeof HISTOGRAMS;
export type GaugeName = keyof typeof GAUGES;
