/**
 * Which process is it? A pid alone says nothing after the process ended: the kernel gives it to
 * another one. A pid together with the start time names one process since the machine was booted.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Names one process, for ever. */
export interface ProcessIdentity {
  pid: number;
  /** Start time as the system writes it (ticks since boot, or a date); only compared. */
  start: string;
  /** Which boot of the machine; `''` where the system does not number them. */
  boot: string;
}

/** The identity of a running process; undefined when there is none with this pid. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const start = process.platform === 'linux' ? await linuxStart(pid) : await psStart(pid);
  return start === undefined ? undefined : { pid, start, boot: await bootId() };
}

/** Whether exactly this process (not a later one with its pid) still runs. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const now = await identify(identity.pid);
  return now !== undefined && now.start === identity.start && now.boot === identity.boot;
}

let boot: Promise<string> | undefined;

/** The kernel's id of this boot, `''` where there is none (macOS: the start date says it all). */
export function bootId(): Promise<string> {
  boot ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  return boot;
}

async function linuxStart(pid: number): Promise<string | undefined> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // no such process
  }
  // proc(5): the name, field 2, is in parentheses and may hold any; then state (3) … starttime (22).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended; it only waits for its parent to notice.
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

async function psStart(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], {
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    });
    return stdout.trim() || undefined;
  } catch {
    return undefined; // ps exits 1 when there is none
  }
}
