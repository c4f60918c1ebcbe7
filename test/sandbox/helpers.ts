/** What sandbox tests share: scratch folders, handlers, waiting, and a look at the process table. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Command, SandboxSpec } from '#src/sandbox/port.js';

export interface Scratch {
  root: string;
  handlersDir: string;
  outputDir: string;
}

export function makeScratch(): Scratch {
  const root = mkdtempSync(join(tmpdir(), 'jobq-test-'));
  const handlersDir = join(root, 'handlers');
  const outputDir = join(root, 'output');
  mkdirSync(handlersDir);
  mkdirSync(outputDir);
  return { root, handlersDir, outputDir };
}

export function removeScratch(scratch: Scratch): void {
  rmSync(scratch.root, { recursive: true, force: true });
}

/** Writes a handler; gives its path relative to the handlers directory. */
export function handler(scratch: Scratch, name: string, source: string, mode = 0o644): string {
  const path = join(scratch.handlersDir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, source);
  chmodSync(path, mode);
  return name;
}

let count = 0;

/** A command that runs shell source as a handler. */
export function shell(scratch: Scratch, source: string, more: Partial<Command> = {}): Command {
  count += 1;
  return {
    interpreter: ['sh'],
    script: handler(scratch, `shell-${count}.sh`, source),
    args: [],
    env: {},
    timeoutMs: 20_000,
    outputLimitBytes: 1 << 20,
    ...more,
  };
}

export function specFor(scratch: Scratch, more: Partial<SandboxSpec> = {}): SandboxSpec {
  const { handlersDir, outputDir } = scratch;
  return {
    handlersDir,
    outputDir,
    memoryBytes: 512 << 20,
    ttlMs: 900_000,
    label: 'test',
    ...more,
  };
}

/** Polls until `condition` gives something truthy, and gives that; fails at the deadline. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  deadlineMs = 10_000,
): Promise<NonNullable<T>> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The cgroups that the owners of a journal's entries have made. */
export function cgroupsOf(journalDir: string): string[] {
  const bases: string[] = readdirSync(journalDir).flatMap(
    (file) => JSON.parse(readFileSync(join(journalDir, file), 'utf8')).cgroups,
  );
  return bases.flatMap(cgroupsBelow);
}

/** Those whose paths begin with `base`. */
export function cgroupsBelow(base: string): string[] {
  return readdirSync(dirname(base))
    .map((name) => join(dirname(base), name))
    .filter((path) => path.startsWith(base));
}

export interface ProcessInfo {
  pid: number;
  parent: number;
  state: string;
  command: string;
}

/** All processes of the machine, from /proc. */
export function processes(): ProcessInfo[] {
  const found: ProcessInfo[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      found.push({ pid: Number(name), parent: Number(parent), state: state!, command });
    } catch {
      // it ended while we looked
    }
  }
  return found;
}

/**
 * A number to sleep for that no other test uses: it marks a handler's processes on the command
 * line, which survives `env -i`, setsid and every fork.
 */
export function marker(): string {
  return `3${Math.floor(Math.random() * 1e9)}.${process.pid}`;
}

export function marked(mark: string): ProcessInfo[] {
  return processes().filter(({ command }) => command.split(' ').includes(mark));
}

/** Ends, after the test, what a failing test left. */
export function endMarkedAfterTest(mark: string): void {
  onTestFinished(() => {
    for (const { pid } of marked(mark)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it ended by itself
      }
    }
  });
}
