import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { JobqError } from '../errors.js';
import { nextMessage } from './awake.js';
import { damaged } from './damage.js';
import { newWorker } from './pglite-warm.js';
import type { FromWorker, ToWorker, WorkerOptions } from './pglite-worker.js';
import { PreparedStatements } from './prepared.js';

interface Waiter {
  resolve(bytes: Uint8Array): void;
  reject(error: Error): void;
  onPart?: ((bytes: Uint8Array) => void) | undefined;
}

export interface RawOptions {
  /** No ReadyForQuery is to end the answer: the messages hold a Flush, and no Sync. */
  open?: boolean;
  /** Gets the beginning of a long answer as it comes; what `sendRaw` returns is then its end. */
  onPart?: (bytes: Uint8Array) => void;
}

/**
 * One life of the PGlite worker: opened once, answers messages in order, ends once. When the worker
 * dies, everything under way is rejected and `dead` is set.
 */
export class PgliteSession {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #waiting: Waiter[] = [];
  /** A directory, or `memory`. */
  readonly location: string;
  /** Why this session cannot be used any more. */
  dead: JobqError | undefined;
  readonly ready: Promise<void>;
  readonly statements = new PreparedStatements();
  readonly #exited: Promise<void>;
  #opened = false;

  constructor(options: WorkerOptions, location: string) {
    this.location = location;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = newWorker({ options, port: port2 });
    this.ready = new Promise((resolve, reject) => {
      this.#waiting.push({ resolve: () => resolve(), reject });
    });
    // Whoever opens awaits `ready`; a death before that is not an unhandled rejection.
    this.ready.catch(() => {});
    this.#exited = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.#port.on('message', (message: FromWorker) => this.#receive(message));
    this.#worker.on('error', (error) => this.#die(String(error), []));
    this.#worker.on('exit', (code) => {
      // Its last words may still be on the way.
      while (this.#receiveNext());
      this.#port.close();
      this.#die(`the worker ended with exit status ${code}`, []);
    });
  }

  /** Sends one protocol message. @returns the whole answer. */
  send(bytes: Uint8Array<ArrayBuffer>, inTransaction: boolean): Promise<Uint8Array> {
    return this.#post({ kind: 'message', bytes, inTransaction });
  }

  /** Sends protocol messages of another server's client. @returns the answer. */
  sendRaw(bytes: Uint8Array<ArrayBuffer>, { open = false, onPart }: RawOptions = {}) {
    return this.#post({ kind: 'raw', bytes, open }, onPart);
  }

  #post(
    message: Exclude<ToWorker, { kind: 'close' }>,
    onPart?: (bytes: Uint8Array) => void,
  ): Promise<Uint8Array> {
    if (this.dead) return Promise.reject(this.dead);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject, onPart });
      this.#port.postMessage(message, [message.bytes.buffer]);
      // One client's statement, and nobody else's: its answer is what it waits for.
      if (message.kind !== 'raw' || this.#waiting.length > 1) return;
      this.#receiveNext();
    });
  }

  /** Lets everything sent so far finish, then shuts the engine down. */
  async close(): Promise<void> {
    if (!this.dead) this.#port.postMessage({ kind: 'close' } satisfies ToWorker);
    await this.#exited;
  }

  /** Ends the worker at once, as a crash would. */
  async kill(reason: string): Promise<void> {
    this.#die(reason, []);
    await this.#exited;
  }

  #stopped(why: string): JobqError {
    return new JobqError(
      'database-unreachable',
      `the database at ${this.location} stopped: ${why}`,
      this.location === 'memory'
        ? 'What was in memory is gone. Start again, or keep the database in a directory.'
        : 'What was acknowledged is kept; the next statement opens it again.',
      { cause: new Error(why) },
    );
  }

  /** @returns whether there was one. */
  #receiveNext(): boolean {
    const message = nextMessage<FromWorker>(this.#port);
    if (message === undefined) return false;
    this.#receive(message);
    return true;
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'ready':
        this.#opened = true;
        this.#waiting.shift()?.resolve(new Uint8Array());
        break;
      case 'part':
        this.#waiting[0]?.onPart?.(message.bytes);
        break;
      case 'response':
        this.#waiting.shift()?.resolve(message.bytes);
        break;
      case 'died':
        this.#die(message.reason, message.log);
        break;
    }
  }

  #die(reason: string, log: string[]): void {
    if (this.dead) return;
    // The engine's own reason, without its time stamp: `2026-11-29 19:01:34.386 UTC [42] PANIC:  …`
    const lastWords = log.findLast((line) => /\b(PANIC|FATAL):/.test(line));
    const why = lastWords?.replace(/^.*?\b(?:PANIC|FATAL):\s*/, '').trim() ?? reason;
    this.dead =
      this.#opened || this.location === 'memory' ? this.#stopped(why) : damaged(this.location, why);
    void this.#worker.terminate();
    for (const waiter of this.#waiting.splice(0)) waiter.reject(this.dead);
  }
}
