// @ts-check
/** What is left of a run to judge it by: both tables, and what the handlers told. */
import { openDatabase } from '#src/db/open.js';
import { readRuns } from './handlers.mjs';

/** @typedef {import('./handlers.mjs').Run} Run */

/**
 * @typedef {{
 *   id: string, kind: string, key: string | null, status: string,
 *   attempts: number, max_attempts: number, last_error: string | null,
 * }} JobRow
 * @typedef {{
 *   id: string, job_id: string, attempt: number, outcome: string | null, exit_code: number | null,
 *   started_at: Date, finished_at: Date | null, duration_ms: string | null, error: string | null,
 * }} AttemptRow
 * @typedef {{ jobs: JobRow[], attempts: AttemptRow[], runs: Run[] }} Evidence
 */

const JOBS = `
select id, kind, payload ->> 'key' as key, status, attempts, max_attempts, last_error
from jobs order by id`;

const ATTEMPTS = `
select id, job_id, attempt, outcome, exit_code, started_at, finished_at, duration_ms, error
from job_attempts order by job_id, id`;

/**
 * @param {{ databaseUrl: string } | { dataDir: string }} where nobody else may be on it
 * @param {string} effects
 * @returns {Promise<Evidence>}
 */
export async function gather(where, effects) {
  const { db, lock } = await openDatabase({ ...where, command: 'chaos' });
  try {
    const jobs = /** @type {JobRow[]} */ ((await db.query(JOBS)).rows);
    const attempts = /** @type {AttemptRow[]} */ ((await db.query(ATTEMPTS)).rows);
    return { jobs, attempts, runs: readRuns(effects) };
  } finally {
    await db.close();
    lock?.release();
  }
}

/**
 * Everything of one job, oldest first, for a person.
 * @param {Evidence} evidence
 * @param {string} id
 */
export function history({ jobs, attempts, runs }, id) {
  const job = jobs.find((each) => each.id === id);
  const time = (/** @type {Date | number | null} */ at) =>
    at === null ? 'never' : new Date(at).toISOString().slice(11, 23);
  return [
    `job ${id} ${job?.kind}: ${job?.status}, attempts ${job?.attempts} of ${job?.max_attempts}, ${job?.last_error}`,
    ...attempts
      .filter(({ job_id }) => job_id === id)
      .map(
        (row) =>
          `  attempt ${row.attempt}: ${time(row.started_at)} to ${time(row.finished_at)}, ${row.outcome} ${row.exit_code ?? ''} ${row.error?.slice(0, 80) ?? ''}`,
      ),
    ...runs
      .filter((run) => run.job === id)
      .map(
        (run) =>
          `  its handler, attempt ${run.attempt}: ${time(run.begins)} to ${time(run.lastSeen)}${run.ended ? ', finished' : ''} (pid ${run.pid})`,
      ),
  ].join('\n');
}
