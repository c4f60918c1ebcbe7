// @ts-check
/**
 * The handlers of a chaos run, and the log in which each run of one tells that it began, lives and
 * ended: what really happened, whatever the table says.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

// One printf is one write to a file opened with O_APPEND: lines of several processes do not mix.
const EFFECT = `
effect() {
  printf '%s %s %s %s %s\\n' "$1" "$JOBQ_JOB_ID" "$JOBQ_ATTEMPT" $$ "$(date +%s%3N)" >> "$CHAOS_EFFECTS"
}
last() { # quarters of a second
  i=0
  while [ $i -lt "$1" ]; do sleep 0.25; effect lives; i=$((i + 1)); done
}
effect begins
`;

/** @param {number} leaseMs */
const scripts = (leaseMs) => ({
  quick: 'effect ends',
  slow: 'last 6; effect ends',
  // Lives on heartbeats.
  long: `last ${Math.ceil(leaseMs / 250) + 6}; effect ends`,
  flaky: '[ $((JOBQ_ATTEMPT % 2)) = 0 ] || exit 1; effect ends',
  hopeless: 'echo "no luck" >&2; exit 1',
  suicidal: '[ "$JOBQ_ATTEMPT" -gt 1 ] || kill -9 $$; effect ends',
  // Leaves a process that would outlive everything.
  stray: 'setsid sleep 300 & effect ends',
});

/** How often each kind is inserted. */
export const KINDS = {
  quick: 10,
  slow: 5,
  long: 1,
  flaky: 2,
  hopeless: 1,
  suicidal: 1,
  stray: 2,
};

/**
 * @param {string} directory
 * @param {number} leaseMs
 */
export function writeHandlers(directory, leaseMs) {
  mkdirSync(directory);
  for (const [kind, script] of Object.entries(scripts(leaseMs))) {
    writeFileSync(path.join(directory, `${kind}.sh`), `${EFFECT}${script}\n`);
  }
}

/**
 * One run of a handler, as it told itself.
 * @typedef {{
 *   job: string, attempt: number, pid: number,
 *   begins: number, lastSeen: number, ended: boolean,
 * }} Run times in milliseconds of this machine's clock
 */

/** @param {string} file @returns {Run[]} in the order in which they began */
export function readRuns(file) {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  /** @type {Map<string, Run>} */
  const open = new Map();
  /** @type {Run[]} */
  const runs = [];
  for (const line of text.split('\n').filter(Boolean)) {
    const [what, job = '', attempt, pid, time] = line.split(' ');
    const key = `${job} ${attempt} ${pid}`;
    const at = Number(time);
    if (what === 'begins') {
      const run = {
        job,
        attempt: Number(attempt),
        pid: Number(pid),
        begins: at,
        lastSeen: at,
        ended: false,
      };
      open.set(key, run);
      runs.push(run);
    }
    const run = open.get(key);
    if (run === undefined) throw new Error(`a run that never began says ${JSON.stringify(line)}`);
    run.lastSeen = at;
    if (what === 'ends') run.ended = true;
  }
  return runs;
}
