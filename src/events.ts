import { EventEmitter } from 'node:events';
import type { Job, Status } from './job/job.js';
import type { Outcome } from './job/outcome.js';
import type { Enforcement } from './sandbox/port.js';

/** A job as its owner holds it. */
export type ClaimedJob = Job & { claim_id: string };

/** What one tick or drain came to; the shape of `jobq-dev drain --json`. */
export interface DrainCounts {
  claimed: number;
  done: number;
  retried: number;
  dead: number;
  reaped: number;
}

/**
 * Why a tick fired: its slot came, it was missed (a sleep, a fast-forward), someone asked, or (with
 * `--wake`) a job was inserted.
 */
export type TickCause = 'schedule' | 'catch-up' | 'by hand' | 'insert';

type Isolation = Enforcement['isolation'];

/** What happens in the emulator, for whoever shows or counts it. */
export interface EventMap {
  /** `lateMs`: how long after its slot; undefined when it had none. */
  tick: [{ at: Date; cause: TickCause; lateMs: number | undefined }];
  /** A tick's drain is over. */
  drained: [{ at: Date; counts: DrainCounts }];
  claimed: [
    { at: Date; job: ClaimedJob; provider: string; isolation: Isolation; timeoutMs: number },
  ];
  output: [{ job: ClaimedJob; stream: 'stdout' | 'stderr'; text: string }];
  settled: [
    {
      at: Date;
      /** As it was claimed. */
      job: ClaimedJob;
      /** Where it ran. */
      provider: string;
      status: Exclude<Status, 'running'>;
      outcome: Outcome;
      error: string | null;
      durationMs: number;
      /** Until its sandbox was there; undefined when there was none. Milliseconds. */
      sandboxStartMs: number | undefined;
      peakMemoryBytes: number | undefined;
      stdout: string;
      /** When it runs again, for a retry. */
      runAfter: Date | undefined;
    },
  ];
  /** An attempt ended after its claim had passed to another or was cancelled. */
  superseded: [{ at: Date; job: ClaimedJob; outcome: Outcome }];
  /** `job` as it was claimed. */
  released: [{ at: Date; job: ClaimedJob }];
  /** `job` as it is now. */
  reaped: [{ at: Date; job: Job; why: 'lease' | 'exhausted' }];
  enqueued: [{ at: Date; ids: string[] }];
  /** By hand: retried, cancelled, edited, or an edited copy made. `job` when it was one. */
  changed: [{ at: Date; job: Job | undefined; count: number }];
  /** The clock was moved ahead. */
  clock: [{ at: Date; offsetMs: number }];
  paused: [{ at: Date; paused: boolean }];
  /** Another provider is used from the next attempt on. */
  sandbox: [{ at: Date; provider: string; description: string; isolation: Isolation }];
  /** The database went away or came back. */
  database: [{ at: Date; reachable: boolean; message: string }];
  /** Something a person should know; nothing was lost. */
  warning: [{ message: string }];
}

export class Events extends EventEmitter<EventMap> {}
