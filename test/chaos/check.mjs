// @ts-check
/** The rules of the queue (docs/architecture.md), held against what is left of a run. */

/**
 * @typedef {import('./evidence.mjs').Evidence} Evidence
 * @typedef {import('./evidence.mjs').AttemptRow} AttemptRow
 * @typedef {import('./handlers.mjs').Run} Run
 * @typedef {import('./inserts.mjs').Ledger} Ledger
 * @typedef {{ job: string | undefined, what: string }} Violation
 */

/** Clocks of several processes on one machine, each set by the database's. */
const CLOCKS_DIFFER_MS = 300;

/**
 * @param {Evidence} evidence
 * @param {Ledger} ledger
 * @param {number} leaseMs how long a claim lives without a sign of life; 0: of one owner
 *   only, who takes back what a killed owner left
 * @returns {{ violations: Violation[], figures: Record<string, number> }}
 */
export function check(evidence, ledger, leaseMs) {
  /** @type {Violation[]} */
  const violations = [];
  const broken = (/** @type {string | undefined} */ job, /** @type {string} */ what) =>
    violations.push({ job, what });
  const attemptsOf = groupBy(evidence.attempts, (row) => row.job_id);
  const runsOf = groupBy(evidence.runs, (run) => run.job);
  const figures = {
    acknowledged: ledger.acknowledged.size,
    'inserted without an answer': 0,
    losses: 0,
    done: 0,
    dead: 0,
    attempts: evidence.attempts.length,
    lost: 0,
    superseded: 0,
    released: 0,
    runs: evidence.runs.length,
    'run again after a lost claim': 0,
    'of those finished before': 0,
    'overlaps after the lease': 0,
  };

  checkPresence(evidence, ledger, figures, broken);
  for (const job of evidence.jobs) {
    const rows = attemptsOf.get(job.id) ?? [];
    if (job.status === 'done' || job.status === 'dead') figures[job.status] += 1;
    else broken(job.id, `is ${job.status} at the end`);
    if (job.attempts > job.max_attempts) broken(job.id, 'has more attempts than it may have');
    const counted = rows.filter(({ outcome }) => outcome !== 'released').length;
    if (job.attempts !== counted) {
      broken(job.id, `counts ${job.attempts} attempts, and ${counted} are on record`);
    }
    if (job.status === 'dead' && job.attempts < job.max_attempts) broken(job.id, 'died too early');
    checkClaims(job.id, rows, leaseMs, broken);
    const pairs = pair(rows, runsOf.get(job.id) ?? []);
    for (const { run, row } of pairs) {
      if (row === undefined)
        broken(job.id, `ran as attempt ${run.attempt}, which is not on record`);
    }
    checkSuccess(job, rows, pairs, broken);
    figures['overlaps after the lease'] += checkOverlaps(job.id, pairs, leaseMs, broken);
    for (const { outcome } of rows) {
      if (outcome === 'lost' || outcome === 'superseded' || outcome === 'released') {
        figures[outcome] += 1;
      }
    }
    const strays = pairs.filter(({ row }) => isTakenAway(row));
    figures['run again after a lost claim'] += strays.length;
    figures['of those finished before'] += strays.filter(({ run }) => run.ended).length;
  }
  return { violations, figures };
}

/** @typedef {(job: string | undefined, what: string) => void} Broken */

/**
 * Every acknowledged job is one row; one whose insert had no answer is one or none.
 * @param {Evidence} evidence @param {Ledger} ledger @param {Record<string, number>} figures
 * @param {Broken} broken
 */
function checkPresence({ jobs }, ledger, figures, broken) {
  const byKey = groupBy(jobs, ({ key }) => key ?? '');
  for (const [key, id] of ledger.acknowledged) {
    const found = byKey.get(key) ?? [];
    if (found.length === 1 && found[0]?.id === id) continue;
    figures.losses = (figures.losses ?? 0) + (found.length === 0 ? 1 : 0);
    broken(
      id,
      `was acknowledged, and is there ${found.length} times (${found.map((job) => job.id)})`,
    );
  }
  for (const [key, found] of byKey) {
    if (ledger.acknowledged.has(key)) continue;
    if (!ledger.unanswered.has(key)) broken(found[0]?.id, 'was never inserted');
    else if (found.length > 1) broken(found[0]?.id, `is there ${found.length} times`);
    else figures['inserted without an answer'] = (figures['inserted without an answer'] ?? 0) + 1;
  }
}

/**
 * One owner at a time: who settled held the claim until then, and who did not held it for a lease.
 * @param {string} job @param {readonly AttemptRow[]} rows in the order in which they were claimed
 * @param {number} leaseMs @param {Broken} broken
 */
function checkClaims(job, rows, leaseMs, broken) {
  rows.forEach((row, index) => {
    if (row.outcome === null) broken(job, `attempt ${row.attempt} never ended`);
    const next = rows[index + 1];
    if (next === undefined) return;
    const nextStarts = next.started_at.getTime();
    if (isTakenAway(row)) {
      const heldMs = nextStarts - row.started_at.getTime();
      if (heldMs < leaseMs - CLOCKS_DIFFER_MS) {
        broken(job, `was claimed again ${heldMs} ms after a claim that lives for ${leaseMs} ms`);
      }
    } else if ((row.finished_at?.getTime() ?? 0) > nextStarts + CLOCKS_DIFFER_MS) {
      broken(
        job,
        `attempt ${row.attempt} was settled while attempt ${next.attempt} held the claim`,
      );
    }
  });
}

/**
 * A job is done by exactly one attempt that exited with 0 and was run to its end.
 * @param {{ id: string, status: string }} job @param {readonly AttemptRow[]} rows
 * @param {readonly Pair[]} pairs @param {Broken} broken
 */
function checkSuccess({ id, status }, rows, pairs, broken) {
  const successes = rows.filter(
    ({ outcome, exit_code }) => outcome === 'exited' && exit_code === 0,
  );
  const wanted = status === 'done' ? 1 : 0;
  if (successes.length !== wanted) {
    broken(id, `is ${status}, and ${successes.length} of its attempts succeeded`);
  }
  for (const row of successes) {
    const run = pairs.find((each) => each.row === row)?.run;
    if (run?.ended !== true)
      broken(id, `attempt ${row.attempt} succeeded, and did not run to its end`);
  }
}

/**
 * Two handlers of one job run at once only after the first one's lease ran out.
 * @param {string} job @param {readonly Pair[]} pairs @param {number} leaseMs @param {Broken} broken
 * @returns {number} how many did
 */
function checkOverlaps(job, pairs, leaseMs, broken) {
  let allowed = 0;
  pairs.forEach(({ run, row }, index) => {
    for (const { run: later, row: laterRow } of pairs.slice(index + 1)) {
      if (later.begins > run.lastSeen) continue;
      const claims = (laterRow?.started_at.getTime() ?? 0) - (row?.started_at.getTime() ?? 0);
      const late = leaseMs > 0 && isTakenAway(row) && claims >= leaseMs - CLOCKS_DIFFER_MS;
      if (late) allowed += 1;
      else broken(job, `attempts ${run.attempt} and ${later.attempt} ran at the same time`);
    }
  });
  return allowed;
}

/** @typedef {{ run: Run, row: AttemptRow | undefined }} Pair */

/**
 * Which attempt each run was: of those with its number the last that was claimed before it began.
 * @param {readonly AttemptRow[]} rows @param {readonly Run[]} runs
 * @returns {Pair[]}
 */
function pair(rows, runs) {
  const free = new Set(rows);
  return runs.map((run) => {
    const row = [...free]
      .filter(
        ({ attempt, started_at }) =>
          attempt === run.attempt && started_at.getTime() <= run.begins + CLOCKS_DIFFER_MS,
      )
      .at(-1);
    if (row !== undefined) free.delete(row);
    return { run, row };
  });
}

/** Whether the claim of an attempt ended because its lease did. @param {AttemptRow | undefined} row */
function isTakenAway(row) {
  return row?.outcome === 'superseded' || (row?.outcome === 'lost' && row.duration_ms === null);
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => string} keyOf
 * @returns {Map<string, T[]>}
 */
function groupBy(items, keyOf) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
