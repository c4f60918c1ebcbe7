import { DatabaseError, type Queryable } from '../db/port.js';
import type { AttemptOutcome, Status } from '../job/job.js';
import { storable } from '../job/text.js';
import { NOT_HEARD_OF } from './columns.js';

/** What one attempt came to. Texts may hold anything; they are cleaned here. */
export interface Verdict {
  id: string;
  claimId: string;
  /** Whether the job is done. */
  ok: boolean;
  outcome: Extract<AttemptOutcome, 'exited' | 'signaled' | 'timeout' | 'lost'>;
  exitCode?: number | undefined;
  signal?: string | undefined;
  /** Why it failed; null when it did not. */
  error: string | null;
  durationMs: number;
  peakMemoryBytes?: number | undefined;
  stdout: { text: string; totalBytes: number };
  stderr: { text: string; totalBytes: number };
  /** When to try again, should attempts be left. */
  retryAt: Date;
}

export interface Settled {
  /** False when the claim had passed to another: the job was left untouched. */
  owned: boolean;
  status?: Exclude<Status, 'running'>;
  run_after?: Date;
}

type SettledRow = { status: Exclude<Status, 'running'>; run_after: Date };

// Whether attempts are left is decided here, in the update, from the row as it is now: a person may
// have edited max_attempts since the claim. The attempt's record is written whether the job was
// still ours or not; in the second case as superseded.
const SQL = `
with settled as (
  update jobs set
    status = case when $3::boolean then 'done'
                  when attempts >= max_attempts then 'dead' else 'pending' end,
    run_after = case when $3 or attempts >= max_attempts then run_after else $4::timestamptz end,
    last_error = case when $3 then last_error else $5::text end,
    finished_at = case when $3 or attempts >= max_attempts then $6::timestamptz end,
    locked_at = null,
    claim_id = null
  where id = $1::bigint and status = 'running' and claim_id = $2::uuid
  returning status, run_after
), logged as (
  update job_attempts set
    outcome = case when exists (select from settled) then $7::text else 'superseded' end,
    finished_at = $6, exit_code = $8::int, signal = $9::text,
    -- What took the claim away (a cancel, the reaper) stays the reason.
    error = case when exists (select from settled) then $5 else coalesce(error, $5) end,
    duration_ms = $10::bigint, peak_memory_bytes = $11::bigint, stdout = $12::text, stderr = $13::text,
    stdout_bytes = $14::bigint, stderr_bytes = $15::bigint
  where claim_id = $2 and ${NOT_HEARD_OF}
)
select status, run_after from settled`;

// The same verdict once more, because its answer got lost with the connection. A statement of its
// own: the one above may have waited for the very commit that this one has to see.
const SETTLED_BEFORE = `
select case when status = 'running' then 'pending' else status end as status, run_after
from job_attempts join jobs on jobs.id = job_id
where job_attempts.claim_id = $1::uuid and duration_ms is not null and outcome <> 'superseded'`;

/** How much of each stream a settled attempt keeps, in characters of its tail. */
export const KEPT_OUTPUT_CHARACTERS = 64 * 1024;

/**
 * running → done, pending (retry) or dead, by the owner of the claim only. A late finisher changes
 * nothing but its own attempt, which is recorded as superseded. May be repeated when the answer got
 * lost: it is then told how the job stands by now.
 */
export async function settle(
  db: Queryable,
  verdict: Verdict,
  { now }: { now: Date },
): Promise<Settled> {
  try {
    return await run(db, verdict, now, storable);
  } catch (error) {
    if (!(error instanceof DatabaseError) || !UNSTORABLE.has(error.sqlstate)) throw error;
    // The database's own encoding (SQL_ASCII, LATIN1) lacks a character. Settling matters more.
    return await run(db, verdict, now, asciiOnly);
  }
}

/** character_not_in_repertoire, untranslatable_character */
const UNSTORABLE = new Set(['22021', '22P05']);

function asciiOnly(text: string): string {
  return storable(text).replace(/[^\n\t\x20-\x7e]/gu, '?');
}

async function run(
  db: Queryable,
  verdict: Verdict,
  now: Date,
  clean: (text: string) => string,
): Promise<Settled> {
  const { rows } = await db.query<SettledRow>(SQL, [
    verdict.id,
    verdict.claimId,
    verdict.ok,
    verdict.retryAt,
    verdict.error === null ? null : clean(verdict.error),
    now,
    verdict.outcome,
    verdict.exitCode ?? null,
    verdict.signal ?? null,
    Math.round(verdict.durationMs),
    verdict.peakMemoryBytes ?? null,
    clean(keep(verdict.stdout.text)),
    clean(keep(verdict.stderr.text)),
    verdict.stdout.totalBytes,
    verdict.stderr.totalBytes,
  ]);
  const row = rows[0] ?? (await settledBefore(db, verdict.claimId));
  return row === undefined ? { owned: false } : { owned: true, ...row };
}

async function settledBefore(db: Queryable, claimId: string): Promise<SettledRow | undefined> {
  const { rows } = await db.query<SettledRow>(SETTLED_BEFORE, [claimId]);
  return rows[0];
}

function keep(text: string): string {
  return text.length <= KEPT_OUTPUT_CHARACTERS ? text : text.slice(-KEPT_OUTPUT_CHARACTERS);
}
