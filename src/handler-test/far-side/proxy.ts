/**
 * Recording proxies: what a handler under test sends to the far side comes here and is answered
 * here. mockttp does the proxying and the certificates, in a worker thread: it takes a second to
 * load, changes node's TLS for the whole thread it runs in, and writes to stdout what it dislikes.
 */
import { Worker } from 'node:worker_threads';
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

/** To the worker. */
export type ToWorker = { do: 'open'; id: number } | { do: 'reply'; request: number; reply: Reply };

/** From the worker. */
export type FromWorker =
  | { said: 'ready'; certificate: string }
  | { said: 'opened'; id: number; url: string }
  | { said: 'request'; proxy: number; request: number; arrived: Arrived };

/** Makes proxies that share one certificate authority. */
export class ProxyHouse {
  readonly #worker: Worker;
  readonly #ready: Promise<string>;
  readonly #proxies = new Map<number, OpenProxy>();
  #count = 0;

  constructor() {
    this.#worker = new Worker(new URL('./proxy-worker.js', import.meta.url), {
      stdout: true,
      stderr: true,
    });
    // What mockttp says is for nobody: every request and its end are reported here.
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#ready = new Promise((resolve, reject) => {
      this.#worker.once('error', reject);
      this.#worker.on('message', (message: FromWorker) => {
        if (message.said === 'ready') resolve(message.certificate);
        else this.#onMessage(message);
      });
    });
    this.#ready.catch(() => {}); // met by whoever asks for it
  }

  /** The certificate of its authority, PEM. @throws Error when the proxy cannot be loaded. */
  certificate(): Promise<string> {
    return this.#ready;
  }

  async open(): Promise<RecordingProxy> {
    await this.#ready;
    const id = ++this.#count;
    const proxy = new OpenProxy((request, reply) => this.#send({ do: 'reply', request, reply }));
    this.#proxies.set(id, proxy);
    const opened = new Promise<void>((resolve) => {
      proxy.onOpened = resolve;
    });
    this.#send({ do: 'open', id });
    await opened;
    return proxy;
  }

  /**
   * Ends every proxy. Idempotent. The thread is not asked to stop its servers by itself: mockttp
   * waits for connections that a killed handler has left (seen to wait for ever).
   */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #onMessage(message: Exclude<FromWorker, { said: 'ready' }>): void {
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
