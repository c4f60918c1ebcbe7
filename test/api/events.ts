/** A job's events in short, for tests of who listens to them. */
import type { ClaimedJob, Events } from '#src/events.js';

const AT = new Date('2026-05-01T12:00:00Z');

export const claimed = (id: string, more: Partial<ClaimedJob> = {}): ClaimedJob => ({
  id,
  kind: 'work',
  payload: '{}',
  status: 'running',
  attempts: 1,
  max_attempts: 3,
  run_after: AT,
  locked_at: AT,
  last_error: null,
  created_at: AT,
  claim_id: `claim ${id}`,
  finished_at: null,
  parent_id: null,
  ...more,
});

export function settle(events: Events, job: ClaimedJob, error: string | null = null): void {
  events.emit('settled', {
    at: AT,
    job,
    provider: 'process',
    status: error === null ? 'done' : 'dead',
    outcome: { kind: 'exited', code: error === null ? 0 : 1 },
    error,
    durationMs: 10,
    sandboxStartMs: 3,
    peakMemoryBytes: undefined,
    stdout: '',
    runAfter: undefined,
  });
}

export function tick(events: Events, ms = 0): void {
  events.emit('tick', { at: new Date(AT.getTime() + ms), cause: 'schedule', lateMs: 20 });
}
