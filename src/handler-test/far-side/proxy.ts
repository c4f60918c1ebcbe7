/**
 * Recording proxies: what a handler under test sends to the far side comes here and is answered
 * here. mockttp does the proxying and the certificates, in a process of its own: it takes a second
 * to load, changes node's TLS for all who run beside it, and writes to stdout what it dislikes. A
 * thread does not do: with connections open that a killed handler left, node 20 was seen to end it
 * for ever (`Environment::CleanupHandles` goes round and round), and the program with it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CannedResponse } from './answers.js';

/** A request as it arrives. */
export interface Arrived {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** What is done with a request. */
export type Reply =
  | { how: 'answer'; response: CannedResponse }
  /** The beginning of it, byte by byte, then the connection breaks. */
  | { how: 'drip'; response: CannedResponse }
  | { how: 'reset' }
  /** To where it was going. */
  | { how: 'pass' };

/** @returns the reply; a promise that never settles holds the client. */
export type Responder = (request: Arrived) => Promise<Reply>;

export interface RecordingProxy {
  readonly url: string;
  /** Decides from now on; undefined: every request is reset, also those that are held. */
  serve(responder: Responder | undefined): void;
}

/** To the process. */
export type ToProxies = { do: 'open'; id: number } | { do: 'reply'; request: number; reply: Reply };

/** From the process. */
export type FromProxies =
  | { said: 'ready'; certificate: string }
  | { said: 'opened'; id: number; url: string }
  | { said: 'request'; proxy: number; request: number; arrived: Arrived };

const PROGRAM = fileURLToPath(new URL('./proxy-process.js', import.meta.url));

/** Makes proxies that share one certificate authority. */
export class ProxyHouse {
  readonly #process: ChildProcess;
  readonly #ready: Promise<string>;
  /** Rejects when the process ends, unless it was closed. */
  readonly #ended: Promise<never>;
  readonly #proxies = new Map<number, OpenProxy>();
  #count = 0;

  constructor() {
    // What mockttp says is for nobody: every request and its end are reported here. In a group of
    // its own it does not get the Ctrl-C that is for us.
    this.#process = fork(PROGRAM, {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
      execArgv: [],
    });
    this.#ended = new Promise((_, reject) => {
      this.#process.on('error', reject);
      this.#process.once('exit', (code, signal) =>
        reject(
          new Error(`the recording proxy has ended by itself (${signal ?? `exit status ${code}`})`),
        ),
      );
    });
    this.#ended.catch(() => {}); // met by whoever asks for something
    this.#ready = new Promise((resolve) => {
      this.#process.on('message', (message: FromProxies) => {
        if (message.said === 'ready') resolve(message.certificate);
        else this.#onMessage(message);
      });
    });
  }

  /** The certificate of its authority, PEM. @throws Error when the proxies are not there (any more). */
  certificate(): Promise<string> {
    return Promise.race([this.#ended, this.#ready]);
  }

  async open(): Promise<RecordingProxy> {
    await this.certificate();
    const id = ++this.#count;
    const proxy = new OpenProxy((request, reply) => this.#send({ do: 'reply', request, reply }));
    this.#proxies.set(id, proxy);
    const opened = new Promise<void>((resolve) => {
      proxy.onOpened = resolve;
    });
    this.#send({ do: 'open', id });
    await Promise.race([this.#ended, opened]);
    return proxy;
  }

  /**
   * Ends every proxy. Idempotent. The process is not asked to stop its servers: mockttp waits for
   * connections that a killed handler has left (seen to wait for ever).
   */
  async close(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
  }

  #send(message: ToProxies): void {
    // One that has ended is told of where it is asked for something.
    if (this.#process.connected) this.#process.send(message);
  }

  #onMessage(message: Exclude<FromProxies, { said: 'ready' }>): void {
    if (message.said === 'opened') this.#proxies.get(message.id)?.opened(message.url);
    else this.#proxies.get(message.proxy)?.arrived(message.request, message.arrived);
  }
}

class OpenProxy implements RecordingProxy {
  url = '';
  onOpened = (): void => {};
  readonly #reply: (request: number, reply: Reply) => void;
  /** Requests without a reply yet. */
  readonly #open = new Set<number>();
  #responder: Responder | undefined;

  constructor(reply: (request: number, reply: Reply) => void) {
    this.#reply = reply;
  }

  opened(url: string): void {
    this.url = url;
    this.onOpened();
  }

  serve(responder: Responder | undefined): void {
    this.#responder = responder;
    if (responder !== undefined) return;
    for (const request of [...this.#open]) this.#settle(request, { how: 'reset' });
  }

  arrived(request: number, arrived: Arrived): void {
    this.#open.add(request);
    const responder = this.#responder ?? (async () => ({ how: 'reset' }) as const);
    responder(arrived).then(
      (reply) => this.#settle(request, reply),
      () => this.#settle(request, { how: 'reset' }),
    );
  }

  #settle(request: number, reply: Reply): void {
    if (this.#open.delete(request)) this.#reply(request, reply);
  }
}
