/** Jobs of a table as the lines of a fixture: the other direction of replay. */
import { createHash } from 'node:crypto';
import { RawJson, stringify } from '../json.js';
import type { Arrival } from '../queue/arrivals.js';
import type { Redactor } from './redact.js';

export interface RecordOptions {
  redactor: Redactor;
  /** The share of jobs that is kept, above 0 and up to 1. */
  sample: number;
  /** Chooses which, together with the ids. */
  salt: string;
  /** Whether each line says what became of its job. */
  withExpect: boolean;
}

export interface Line {
  kind: string;
  atMs: number;
  text: string;
}

/** What the table's default is; a line says only what differs. */
const DEFAULT_MAX_ATTEMPTS = 3;

/** Fixture lines, in the order of the ids. Keeps no more than a page. */
export async function* recordLines(
  pages: AsyncIterable<readonly Arrival[]>,
  { redactor, sample, salt, withExpect }: RecordOptions,
): AsyncGenerator<Line> {
  let start: number | undefined;
  let atMs = 0;
  for await (const page of pages) {
    for (const job of page) {
      if (!isSampled(job.id, sample, salt)) continue;
      const created = job.created_at.getTime();
      start ??= created;
      // A long transaction's jobs were inserted after its start, which is what created_at holds.
      atMs = Math.max(atMs, created - start);
      const runAfter = originalRunAfter(job);
      const text = stringify({
        at: seconds(atMs),
        kind: job.kind,
        payload: new RawJson(redactor.redact(job.payload)),
        ...(runAfter !== undefined &&
          runAfter - start > atMs && { run_after: seconds(runAfter - start) }),
        ...(job.max_attempts !== DEFAULT_MAX_ATTEMPTS && { max_attempts: job.max_attempts }),
        ...(withExpect &&
          isOver(job) && {
            expect: { status: job.status, attempts: job.attempts },
          }),
      });
      yield { kind: job.kind, atMs, text };
    }
  }
}

/** The same jobs for the same salt, however often it is recorded. */
function isSampled(id: string, share: number, salt: string): boolean {
  if (share >= 1) return true;
  const hash = createHash('sha256').update(`${salt}:${id}`).digest();
  return hash.readUInt32BE(0) / 2 ** 32 < share;
}

/** When it was to run at first; a retry has put its own time in its place. */
function originalRunAfter(job: Arrival): number | undefined {
  const untouched = job.attempts === 0 || (job.attempts === 1 && job.status !== 'pending');
  const at = job.run_after.getTime();
  return untouched && Math.abs(at) < 8.64e15 ? at : undefined;
}

function isOver(job: Arrival): boolean {
  return job.status === 'done' || job.status === 'dead';
}

function seconds(ms: number): string {
  return `${ms / 1_000}s`;
}
