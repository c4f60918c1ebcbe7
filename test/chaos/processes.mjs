// @ts-check
/** The jobq-dev processes of a run: started again whenever they end, as cron and people do. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Before it is started again: on a cron schedule a drain is away more often than it is there. */
const PAUSE_MS = 1_000;
/** How long a process may take to end after a SIGTERM, besides its grace. */
const END_WITHIN_MS = 120_000;

/** One jobq-dev that is started again and again, until it is stopped. */
export class Process {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child;
  #options;
  #log;
  #stopping = false;
  #over = Promise.resolve();
  /** The signal that we sent to the one that runs now. @type {NodeJS.Signals | undefined} */
  #sent;
  #frozen = false;
  /** Where the emulator that runs now answers. @type {string | undefined} */
  url;
  /** How many were started. */
  starts = 0;
  /** What no process of this kind may do. @type {string[]} */
  faults = [];

  /**
   * @param {{
   *   name: string, cli: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv,
   *   log: string, isEmulator: boolean,
   * }} options an emulator runs until it is ended, a drain until nothing is due
   */
  constructor(options) {
    this.#options = options;
    this.#log = createWriteStream(options.log, { flags: 'a' });
  }

  get name() {
    return this.#options.name;
  }

  get pid() {
    return this.#child?.pid;
  }

  get isEmulator() {
    return this.#options.isEmulator;
  }

  /** Whether one runs that was not told to end, and is not frozen. */
  get free() {
    return this.#child !== undefined && this.#sent === undefined && !this.#frozen;
  }

  start() {
    this.#over = this.#keepRunning();
  }

  /** @param {'SIGKILL' | 'SIGTERM'} signal */
  end(signal) {
    this.#sent = signal;
    this.#child?.kill(signal);
    const child = this.#child;
    const late = setTimeout(() => {
      this.faults.push(`${this.name} runs on ${END_WITHIN_MS} ms after ${signal}`);
      child?.kill('SIGKILL');
    }, END_WITHIN_MS);
    child?.once('exit', () => clearTimeout(late));
  }

  /** SIGSTOP, and SIGCONT once `over` resolves. @param {Promise<unknown>} over */
  async freeze(over) {
    const child = this.#child;
    this.#frozen = true;
    child?.kill('SIGSTOP');
    await over;
    child?.kill('SIGCONT');
    this.#frozen = false;
  }

  /** Ends it for good; resolves when it is gone. */
  async stop() {
    this.#stopping = true;
    if (this.#child !== undefined) this.end('SIGTERM');
    await this.#over;
    this.#log.end();
  }

  /** At once, when the run itself is given up. */
  destroy() {
    this.#stopping = true;
    this.#child?.kill('SIGKILL');
  }

  async #keepRunning() {
    while (!this.#stopping) {
      await this.#runOnce();
      await delay(PAUSE_MS);
    }
  }

  async #runOnce() {
    const { cli, args, cwd, env } = this.#options;
    this.starts += 1;
    this.#sent = undefined;
    const child = spawn(process.execPath, [cli, ...args], { cwd, env, stdio: 'pipe' });
    this.#child = child;
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        this.#log.write(chunk);
        text = (text + chunk).slice(-4_000);
        this.url ??= /ready at (http:\S+)/.exec(text)?.[1];
      });
    }
    const [status, signal] = await once(child, 'close');
    this.#child = undefined;
    this.#log.write(`── ended with ${signal ?? status}\n`);
    const ready = this.url !== undefined;
    this.url = undefined;
    const fault = this.#faultOf(status, signal, ready);
    if (fault !== undefined)
      this.faults.push(`${this.name} ended with ${fault}: ${text.slice(-800)}`);
  }

  /**
   * @param {number | null} status
   * @param {NodeJS.Signals | null} signal
   * @param {boolean} ready
   * @returns {string | undefined} what is wrong with that end
   */
  #faultOf(status, signal, ready) {
    if (signal !== null) return signal === this.#sent ? undefined : signal;
    if (this.#sent !== undefined)
      return [0, 1, 3, 130].includes(status ?? -1) ? undefined : `${status}`;
    // Once it is ready nothing ends an emulator but a person; before, a database that is away does.
    if (this.isEmulator) return !ready && status === 3 ? undefined : `${status}`;
    return [0, 1, 3].includes(status ?? -1) ? undefined : `${status}`;
  }
}
