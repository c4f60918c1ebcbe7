import { EventEmitter } from 'node:events';
import type { Job, Status } from './job/job.js';
import type { Outcome } from './job/outcome.js';

/** What one tick or drain came to; the shape of `jobq-dev drain --json`. */
export interface DrainCounts {
  claimed: number;
  done: number;
  retried: number;
  dead: number;
  reaped: number;
}

/** Why a tick fired: its slot came, it was missed (a sleep, a fast-forward), or someone asked. */
export type TickCause = 'schedule' | 'catch-up' | 'by hand';

/** What happens in the emulator, for whoever shows or counts it. */
export interface EventMap {
  tick: [{ at: Date; cause: TickCause }];
  /** A tick's drain is over. */
  drained: [{ at: Date; counts: DrainCounts }];
  claimed: [{ at: Date; job: Job; provider: string }];
  output: [{ job: Job; stream: 'stdout' | 'stderr'; text: string }];
  settled: [
    {
      at: Date;
      /** As it was claimed. */
      job: Job;
      status: Exclude<Status, 'running'>;
      outcome: Outcome;
      error: string | null;
      durationMs: number;
      peakMemoryBytes: number | undefined;
      stdout: string;
      /** When it runs again, for a retry. */
      runAfter: Date | undefined;
    },
  ];
  /** An attempt ended after its claim had passed to another or was cancelled. */
  superseded: [{ at: Date; job: Job; outcome: Outcome }];
  released: [{ at: Date; job: Job }];
  /** `job` as it is now. */
  reaped: [{ at: Date; job: Job; why: 'lease' | 'exhausted' }];
  enqueued: [{ at: Date; ids: string[] }];
  /** The database went away or came back. */
  database: [{ at: Date; reachable: boolean; message: string }];
  /** Something a person should know; nothing was lost. */
  warning: [{ message: string }];
}

export class Events extends EventEmitter<EventMap> {}
