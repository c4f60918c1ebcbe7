// @ts-check
/** A PostgreSQL server for tests that can be stopped, killed and started again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const KEEPER = fileURLToPath(new URL('./postgres-keeper.mjs', import.meta.url));

export class PostgresServer {
  /** A superuser's URL of the maintenance database. */
  url = '';
  #keeper;
  #exited;
  #lines;

  /** @param {readonly string[]} settings */
  constructor(settings) {
    this.#keeper = spawn(process.execPath, [KEEPER, ...settings], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // Not in our process group: Ctrl-C is for us, and the keeper ends with its stdin.
      detached: true,
    });
    this.#exited = once(this.#keeper, 'exit');
    this.#lines = createInterface({ input: this.#keeper.stdout })[Symbol.asyncIterator]();
  }

  /**
   * A new server that answers. It ends with this process, however that one ends.
   * @param {readonly string[]} settings e.g. `max_connections=40`
   */
  static async start(...settings) {
    const server = new PostgresServer(settings);
    server.url = (await server.#answer()).url;
    return server;
  }

  /** Ends the server; it can be started again. */
  stop() {
    return this.#tell('stop');
  }

  /** SIGKILL, for the server and all its backends; it can be started again. */
  kill() {
    return this.#tell('kill');
  }

  /** Starts it again: same port, same data. */
  start() {
    return this.#tell('start');
  }

  /** Ends the server and deletes its data. */
  async close() {
    this.#keeper.stdin.end();
    await this.#exited;
  }

  /** @param {'start' | 'stop' | 'kill'} command */
  async #tell(command) {
    this.#keeper.stdin.write(`${command}\n`);
    await this.#answer();
  }

  /** @returns {Promise<{ url: string }>} */
  async #answer() {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error(`the test server ended: exit status ${(await this.#exited)[0]}`);
    return JSON.parse(value);
  }
}
