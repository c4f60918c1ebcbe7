/** Runs the command line as a user does: as a process of its own, in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));

export interface Finished {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
  input?: string;
  /** In place of the compiled command line. */
  command?: readonly string[];
  /** Makes a process group, as a terminal does, so that `interrupt` reaches all of it. */
  group?: boolean;
}

/** A folder that is gone after the test. */
export function scratch(): string {
  const { dir, remove } = scratchFolder();
  onTestFinished(remove);
  return dir;
}

/** A folder for several tests. */
export function scratchFolder(): { dir: string; remove: () => void } {
  const dir = mkdtempSync(path.join(tmpdir(), 'jobq-test-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** The developer's environment, without what would turn colours or settings on. */
function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const plain = Object.entries(process.env).filter(
    ([name]) => !/^(JOBQ_|VITEST|FORCE_COLOR|NODE_OPTIONS)/.test(name),
  );
  return { ...Object.fromEntries(plain), ...more };
}

/** Runs a command to its end. */
export async function jobq(args: readonly string[], options: RunOptions): Promise<Finished> {
  const running = start(args, options);
  running.child.stdin!.end(options.input ?? '');
  return running.ended;
}

export interface Running {
  child: ChildProcess;
  /** Everything on stdout and stderr so far. */
  readonly text: string;
  /** Resolves with the match once the output matches; rejects when the process ends before. */
  seen(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<Finished>;
}

/** Ctrl-C on a terminal: every process of the group gets the signal. */
export function interruptGroup(running: Running): void {
  process.kill(-running.child.pid!, 'SIGINT');
}

/** What a hook starts lives for several tests: whoever starts it there ends it. */
function endWithTest(end: () => Promise<void>): void {
  try {
    onTestFinished(end);
  } catch {
    // Outside of a test there is no end to wait for.
  }
}

/** Starts a command that goes on; it is killed when the test ends. */
export function start(args: readonly string[], options: RunOptions): Running {
  const [program, ...before] = options.command ?? [process.execPath, CLI];
  const child = spawn(program!, [...before, ...args], {
    cwd: options.cwd,
    env: environment(options.env),
    stdio: 'pipe',
    detached: options.group ?? false,
  });
  let stdout = '';
  let stderr = '';
  let over = false;
  const look = new Set<() => void>();
  const changed = () => {
    for (const check of look) check();
  };
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    changed();
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    changed();
  });
  const ended = once(child, 'close').then(([status, signal]): Finished => {
    over = true;
    changed();
    return { status, signal, stdout, stderr };
  });
  endWithTest(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    child,
    get text() {
      return stdout + stderr;
    },
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const match = pattern.exec(stdout) ?? pattern.exec(stderr);
          if (match !== null) {
            look.delete(check);
            resolve(match);
          } else if (over) {
            look.delete(check);
            reject(new Error(`it ended before ${pattern}; it said:\n${stdout}${stderr}`));
          }
        };
        look.add(check);
        check();
      }),
    ended,
  };
}

/** Starts the emulator on any free port and waits for its ready line. */
export async function startEmulator(
  options: RunOptions,
  ...args: string[]
): Promise<Running & { url: string }> {
  const running = start(['--port', '0', ...args], options);
  const [, url] = await running.seen(/^jobq-dev ready at (http:\S+)/m);
  return {
    ...running,
    url: url!,
    get text() {
      return running.text;
    },
  };
}

/** Resolves once `condition` holds; it is asked again and again. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}
