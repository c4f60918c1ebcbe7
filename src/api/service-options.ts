/** What the API stands on. */
import type { SystemClock } from '../clock.js';
import type { Database } from '../db/port.js';
import type { Cron } from '../drain/cron.js';
import type { Drainer } from '../drain/drainer.js';
import type { Held } from '../drain/endings.js';
import type { Interpreters } from '../drain/handler.js';
import type { Events } from '../events.js';
import type { SandboxProvider } from '../sandbox/port.js';
import type { Control } from './control.js';
import type { Metrics } from './metrics/metrics.js';
import type { Watch } from './watch.js';

/** Where the emulator answers, as far as it does. */
export interface Addresses {
  http?: string;
  postgres?: string;
}

export interface ServiceOptions {
  db: Database;
  clock: SystemClock;
  events: Events;
  watch: Watch;
  drainer: () => Promise<Drainer>;
  /** The attempts that run here. */
  held: () => readonly Held[];
  /** The provider in use; undefined before anything was drained in a command of its own. */
  provider: () => SandboxProvider | undefined;
  /** The cron drainer, where one runs. */
  cron?: Cron;
  /** What steers it. */
  control?: Control;
  metrics?: Metrics;
  version: string;
  schedule: { expression: string; timezone: string };
  handlersDir: string;
  /** The outputs of jobs, each in a directory under its id. */
  outputRoot: string;
  interpreters: Interpreters;
  concurrency: number;
  timeoutMs: number;
  leaseMs: number;
  alertAgeMs: number;
  /** Whether inserts are picked up at once. */
  wake: boolean;
  addresses: () => Addresses;
}
