/**
 * The warden: one helper process that starts handlers and ends all that is left of them. What it
 * does and why it is a Perl script is told in warden.pl; this is jobq-dev's side of it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { after } from '../deadline.js';

const SCRIPT = fileURLToPath(new URL('./warden.pl', import.meta.url));
/** Perl starts within 20 ms; on a machine that swaps it can take long. */
const START_TIMEOUT_MS = 10_000;
/** What is ended ends within milliseconds; only a process stuck in the kernel takes longer. */
export const PATIENCE_MS = 2_000;

export interface WardenOptions {
  /** Path of the perl to run. */
  perl: string;
  /** A directory to make for the socket, private; its path is short (sun_path holds 104 bytes). */
  socketDir: string;
  /** The warden's HOME: marks its processes as belonging to this directory (see journal.ts). */
  home: string;
  /** What names of cgroups begin with; undefined: none are made. */
  cgroupName: string | undefined;
}

export class Warden {
  readonly pid: number;
  /** Whether the kernel gives it every orphan below it. */
  readonly subreaper: boolean;
  /** What the paths of its cgroups begin with; undefined where a try to make one failed. */
  readonly cgroups: string | undefined;
  readonly #child: ChildProcess;
  readonly #socketPath: string;
  readonly #ended: Promise<void>;
  #alive = true;
  /** Monitors that died before their work was done, and who waits for the end of their remains. */
  readonly #gone = new Set<number>();
  readonly #waiting = new Map<number, () => void>();

  private constructor(
    child: ChildProcess,
    socketPath: string,
    found: Pick<Warden, 'subreaper' | 'cgroups'>,
  ) {
    this.pid = child.pid!;
    this.subreaper = found.subreaper;
    this.cgroups = found.cgroups;
    this.#child = child;
    this.#socketPath = socketPath;
    this.#ended = new Promise((resolve) => {
      const onEnd = (): void => {
        this.#alive = false;
        for (const wake of this.#waiting.values()) wake();
        // It removes this itself, unless it was killed.
        rm(dirname(socketPath), { recursive: true, force: true }).then(resolve, () => resolve());
      };
      if (child.exitCode !== null || child.signalCode !== null) onEnd();
      else child.once('exit', onEnd);
    });
  }

  /** @throws Error when perl cannot run the script or the socket cannot be made. */
  static async start(options: WardenOptions): Promise<Warden> {
    await mkdir(options.socketDir, { mode: 0o700 });
    const socketPath = join(options.socketDir, 'w');
    const name = options.cgroupName === undefined ? [] : [options.cgroupName];
    const child = spawn(options.perl, [SCRIPT, socketPath, ...name], {
      cwd: '/',
      // None of the developer's: PERL5OPT and its like change what perl does.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: options.home, LC_ALL: 'C' },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A session of its own from the first moment, so that a Ctrl-C does not reach it.
      detached: true,
    });
    child.stdin.on('error', () => {}); // its end is seen by 'exit'
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-2000);
    });
    const lines = createInterface({ input: child.stdout });
    try {
      const line = await firstLine(child, lines, () => complaint);
      const found = /^ready ([01]) (.*)$/.exec(line);
      if (!found) throw new Error(`perl said ${JSON.stringify(line)}`);
      const warden = new Warden(child, socketPath, {
        subreaper: found[1] === '1',
        cgroups: found[2] || undefined,
      });
      lines.on('line', (line) => warden.#onLine(line));
      // It must not keep jobq-dev running: when jobq-dev ends, the warden's stdin does too.
      child.unref();
      for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket).unref();
      return warden;
    } catch (error) {
      child.kill('SIGKILL');
      await rm(options.socketDir, { recursive: true, force: true });
      throw error;
    }
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** A connection to a new monitor. @throws Error when the warden is gone. */
  connect(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#socketPath);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(socket);
      });
    });
  }

  /** Kills a monitor that does not answer; the warden then ends what it watched. */
  killMonitor(pid: number): void {
    this.#child.stdin!.write(`kill ${pid}\n`);
  }

  /** Resolves when nothing is left of what a dead monitor watched (or cannot be known any more). */
  remainsEnded(monitorPid: number): Promise<void> {
    if (this.#gone.delete(monitorPid) || !this.#alive) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        this.#waiting.delete(monitorPid);
        this.#gone.delete(monitorPid);
        resolve();
      };
      const cancel = after(PATIENCE_MS, wake);
      this.#waiting.set(monitorPid, wake);
    });
  }

  /** Ends it at once; monitors that still live see that and end what they watch. */
  destroy(): void {
    this.#child.kill('SIGKILL');
  }

  /** Ends it with everything it started; resolves when it is gone. Idempotent. */
  async stop(): Promise<void> {
    this.#child.ref();
    this.#child.stdin!.end();
    const cancel = after(PATIENCE_MS, () => this.destroy());
    await this.#ended;
    cancel();
  }

  #onLine(line: string): void {
    const pid = Number(/^gone (\d+)$/.exec(line)?.[1]);
    if (!pid) return;
    this.#gone.add(pid);
    this.#waiting.get(pid)?.();
  }
}

function firstLine(
  child: ChildProcess,
  lines: ReturnType<typeof createInterface>,
  complaint: () => string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const cancel = after(START_TIMEOUT_MS, () => reject(new Error('perl did not answer')));
    const fail = (reason: string): void => {
      cancel();
      reject(new Error(complaint().trim() || reason));
    };
    lines.once('line', (line) => {
      cancel();
      resolve(line);
    });
    child.once('error', (error) => fail(error.message));
    child.once('close', (code, signal) => fail(`perl ended with ${signal ?? code}`));
  });
}
