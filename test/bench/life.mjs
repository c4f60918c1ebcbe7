/** What the emulator costs when nothing happens, and what a long replay keeps. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const IDLE_SECONDS = 70;

/** Seconds of CPU that a process and its ended children have used (Linux). */
export function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14])) / 100;
}

function residentMiB(pid) {
  // A process that has just ended has no memory any more.
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib ?? 0) / 1024;
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts a jobq-dev; `seen` resolves with what a pattern found in its output. */
export function startJobq(args, cwd) {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const seen = (pattern) =>
    new Promise((resolve) => {
      const look = () => {
        const found = pattern.exec(text);
        if (found) resolve(found);
      };
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          text += chunk;
          look();
        });
      }
    });
  return { child, seen, ended: new Promise((resolve) => child.on('close', resolve)) };
}

/**
 * Over more than a minute, so that a tick is among it, and after the first one: what runs for the
 * first time is compiled, which is half a second of CPU, once.
 */
export async function idle() {
  const dir = mkdtempSync(path.join(tmpdir(), 'jobq-bench-'));
  const { child, seen, ended } = startJobq(['--port', '0', '--json'], dir);
  try {
    await seen(/"event":"tick"/);
    await pause(5_000);
    const before = cpuSeconds(child.pid);
    await pause(IDLE_SECONDS * 1_000);
    const share = ((cpuSeconds(child.pid) - before) / IDLE_SECONDS) * 100;
    const mark = share < 1 ? 'ok  ' : 'OVER';
    console.log(`${mark} idle: ${share.toFixed(2)} % of a core (asked: < 1)`);
  } finally {
    child.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Resident memory after the first 1,000 of 10,000 trivial jobs, and at the end. */
export async function replayMemory() {
  const dir = mkdtempSync(path.join(tmpdir(), 'jobq-bench-'));
  mkdirSync(path.join(dir, 'handlers'));
  writeFileSync(path.join(dir, 'handlers/nothing'), '#!/bin/true\n', { mode: 0o755 });
  const lines = Array.from(
    { length: 100 },
    (_, minute) =>
      `{"at":"${minute}m","kind":"nothing","payload":{"minute":${minute}},"count":100}`,
  );
  writeFileSync(path.join(dir, 'burst.jsonl'), `${lines.join('\n')}\n`);
  const { child, ended } = startJobq(['replay', 'burst.jsonl', '--output-dir', 'out'], dir);
  try {
    const at = { early: 0, late: 0 };
    for (;;) {
      const over = await Promise.race([ended.then(() => true), pause(100).then(() => false)]);
      if (over) break;
      const settled = await countOf(path.join(dir, 'out'));
      if (settled >= 1_000 && at.early === 0) at.early = residentMiB(child.pid);
      if (settled >= 9_000) at.late = Math.max(at.late, residentMiB(child.pid));
    }
    const ratio = at.late / at.early;
    const mark = ratio <= 1.15 ? 'ok  ' : 'OVER';
    console.log(
      `${mark} replay of 10,000 trivial jobs, memory after 9,000 against after 1,000: ${ratio.toFixed(2)} (asked: flat; ${at.late.toFixed(0)} MiB against ${at.early.toFixed(0)} MiB)`,
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Jobs that have been started: each has an output directory. */
async function countOf(dir) {
  const { readdir } = await import('node:fs/promises');
  return (await readdir(dir).catch(() => [])).length;
}
