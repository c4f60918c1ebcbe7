/** States of the screen, as a running emulator makes them. */
import type { JobAnswer, JobLine, Overview, StreamEvent } from '#src/api/contract.js';
import { applyEvent } from '#ui/store/apply-event.js';
import { applyOverview } from '#ui/store/apply-overview.js';
import { initialState, type State } from '#ui/store/state.js';

export const NOW = Date.parse('2026-03-01T12:00:00Z');
export const at = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString();

export function overview(changes: Partial<Overview> = {}): Overview {
  return {
    info: {
      version: '0.1.0',
      pid: 1,
      database: { driver: 'pglite', location: '/home/ada/app/.jobq/pgdata' },
      sandbox: { provider: 'process', description: 'process (no isolation)', isolation: 'none' },
      handlers: '/home/ada/app/handlers',
      cron: {
        expression: '* * * * *',
        timezone: 'UTC',
        next_tick: at(42),
        paused: false,
        wake: false,
      },
      concurrency: 2,
      timeout_ms: 600_000,
      lease_ms: 1_800_000,
      alert_age_ms: 300_000,
      urls: { http: 'http://127.0.0.1:5627', postgres: 'postgres://jobq@127.0.0.1:5628/jobq' },
      clock_offset_ms: 0,
      now: at(0),
    },
    handler_kinds: ['push', 'release'],
    stats: {
      counts: { pending: 12, running: 0, done: 1_204, dead: 3 },
      due: 12,
      estimated: [],
      oldest_waiting_ms: 125_000,
      next_run_after: at(60),
      last_minute: { attempts: 65, done: 62, failed: 3 },
    },
    running: [],
    history: [],
    event_id: 'e-0',
    ...changes,
  };
}

export function line(id: string, changes: Partial<JobLine> = {}): JobLine {
  return {
    id,
    kind: 'push',
    status: 'running',
    attempts: 1,
    max_attempts: 3,
    run_after: at(-10),
    last_error: null,
    ...changes,
  };
}

export function row(id: string, changes: Partial<JobAnswer> = {}): JobAnswer {
  return {
    ...line(id, { status: 'pending' }),
    created_at: at(-60),
    locked_at: null,
    finished_at: null,
    claim_id: null,
    parent_id: null,
    ...changes,
  };
}

let events = 0;

/** An event with an id of its own. */
export function event<Name extends StreamEvent['name']>(
  name: Name,
  data: Extract<StreamEvent, { name: Name }>['data'],
): StreamEvent {
  events += 1;
  return { id: `e-${events}`, name, data } as StreamEvent;
}

export const claimed = (id: string, changes: Partial<JobLine> = {}) =>
  event('claimed', {
    at: at(0),
    job: line(id, changes),
    claim_id: `claim-${id}`,
    provider: 'process',
    isolation: 'none',
    timeout_ms: 600_000,
  });

export const settled = (id: string, changes: Partial<JobLine>) =>
  event('settled', {
    at: at(1),
    job: line(id, changes),
    claim_id: `claim-${id}`,
    outcome: 'exited',
    error: changes.last_error ?? null,
    duration_ms: 380,
    peak_memory_bytes: 5_000_000,
  });

export function start(size = { columns: 120, rows: 40 }, changes: Partial<Overview> = {}): State {
  return applyOverview(initialState(size, 'http://127.0.0.1:5627'), overview(changes), [], NOW);
}

export const after = (state: State, ...events: StreamEvent[]): State =>
  events.reduce(applyEvent, state);
