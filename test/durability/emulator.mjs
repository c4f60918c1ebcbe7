// @ts-check
/** The emulator as a process of its own, driven over HTTP. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Longer than any start, on a machine that is busy with other things. */
const READY_WITHIN_MS = 60_000;

export class Emulator {
  #child;
  #said = '';
  #settled = 0;
  #heard = () => {};
  /**
   * Ends requests with the process: a fetch under way at its end was left without an answer or an
   * error (seen with Node 20.20, under load), and then nothing waits any more: exit status 13.
   */
  #gone = new AbortController();
  /** Resolves with where it answers, and rejects when it ends before. @type {Promise<string>} */
  ready;
  /** @type {Promise<unknown>} */
  ended;
  isReady = false;

  /**
   * @param {{ cli: string, cwd: string, dataDir: string }} where
   * @param {(line: { event: string, id?: string, status?: string }) => void} onLine
   */
  constructor({ cli, cwd, dataDir }, onLine = () => {}) {
    this.#child = spawn(process.execPath, [cli, '--json', '--port', '0', '--data-dir', dataDir], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#said = (this.#said + text).slice(-2_000);
    });
    this.ended = once(this.#child, 'close').then(() => this.#gone.abort());
    this.ready = new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#child.kill('SIGKILL');
        reject(new Error(`not ready within ${READY_WITHIN_MS} ms: ${this.#said}`));
      }, READY_WITHIN_MS);
      createInterface({ input: this.#child.stdout }).on('line', (text) => {
        // The last line of a process that was killed may be cut.
        if (!text.endsWith('}')) return;
        const line = JSON.parse(text);
        if (line.event === 'ready') {
          this.isReady = true;
          resolve(line.url);
        }
        if (line.event === 'settled') this.#settled += 1;
        this.#heard();
        onLine(line);
      });
      this.ended.then(() => {
        clearTimeout(late);
        reject(new Error(`it ended before it was ready: ${this.#said}`));
      });
      this.ended.finally(() => clearTimeout(late));
    });
    // Met by whoever waits for it.
    this.ready.catch(() => {});
  }

  /** Resolves once so many attempts were reported to have ended, or it has. @param {number} count */
  async hasSettled(count) {
    while (this.#settled < count) {
      const heard = new Promise((resolve) => {
        this.#heard = () => resolve(true);
      });
      if ((await Promise.race([heard, this.ended])) !== true) return;
    }
  }

  /** @param {NodeJS.Signals} signal */
  signal(signal) {
    this.#child.kill(signal);
  }

  async kill() {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** @param {import('./ledger.mjs').Ledger} ledger @param {{ kind: string, maxAttempts: number }} job */
  async insert(ledger, { kind, maxAttempts }) {
    const key = ledger.newKey();
    const response = await fetch(`${await this.ready}/jobs`, {
      method: 'POST',
      body: JSON.stringify({ kind, payload: { key }, max_attempts: maxAttempts }),
      signal: this.#gone.signal,
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`POST /jobs: ${response.status} ${text}`);
    ledger.acknowledge(key, JSON.parse(text).ids[0]);
  }

  /** @returns {Promise<import('./ledger.mjs').Job[]>} all of the table */
  async jobs() {
    const url = await this.ready;
    const jobs = [];
    for (let before = ''; ; before = `&before=${jobs.at(-1).id}`) {
      const response = await fetch(`${url}/jobs?limit=1000${before}`, {
        signal: this.#gone.signal,
      });
      const page = await response.json();
      if (!Array.isArray(page)) throw new Error(`GET /jobs: ${JSON.stringify(page)}`);
      jobs.push(...page);
      if (page.length < 1_000) return jobs;
    }
  }
}
