import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that is there, but does not show when it started. */
export const HIDDEN = 'hidden';

/**
 * When a process started, as a text that no other process with the same pid will ever have: pids
 * are used again, start times within one boot are not.
 *
 * @returns undefined when there is no such process (a zombie is none: it holds nothing any more),
 *   HIDDEN when there is one and the system tells no more.
 */
export function processStart(pid: number): string | undefined {
  const start = process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
  // Not found can mean not shown: /proc may be mounted with `hidepid`, and `ps` may be missing.
  return start === 'unknown' ? (exists(pid) ? HIDDEN : undefined) : start;
}

/** Whether the process that had this pid and start is there yet; where that is hidden, it may be. */
export function isAlive(process: { pid: number; processStart: string }): boolean {
  const start = processStart(process.pid);
  if (start === HIDDEN || process.processStart === HIDDEN) return start !== undefined;
  return start === process.processStart;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function fromProc(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return 'unknown';
  }
  // The command in field 2 may hold blanks and parentheses; the fields after its last one may not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  const startTicks = fields[22 - 3];
  return `${bootId()}:${startTicks}`;
}

let boot: string | undefined;

function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  return boot;
}

function fromPs(pid: number): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-o', 'state=', '-p', String(pid)], {
      encoding: 'utf8',
      // The date's wording depends on it.
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    if (text === '' || /\sZ\S*$/.test(text)) return undefined;
    return text.replace(/\s+\S+$/, '').replace(/\s+/g, ' ');
  } catch {
    return 'unknown';
  }
}

/** Names one process, for ever. */
export interface ProcessIdentity {
  pid: number;
  /** As `processStart` gives it. */
  start: string;
}

/** @returns undefined when there is no process with this pid. */
export function identify(pid: number): ProcessIdentity | undefined {
  const start = processStart(pid);
  return start === undefined ? undefined : { pid, start };
}

/**
 * Whether exactly this process (not a later one with its pid) still runs. One that hides when it
 * started is never taken for it.
 */
export function isSame({ pid, start }: ProcessIdentity): boolean {
  return start !== HIDDEN && processStart(pid) === start;
}

/** Whether it may still run: also true for a process that hides when it started. */
export function mayRun({ pid, start }: ProcessIdentity): boolean {
  const now = processStart(pid);
  return now === HIDDEN || (now !== undefined && now === start);
}
