/**
 * The part of PandaStack's REST API that is used. Not its SDK: 0.9.0 sends a command again, silently,
 * when an error contains "i/o timeout" or "connection refused", and gives up at a time of its own.
 */
import { JobqError } from '../../errors.js';

export interface ApiOptions {
  /** E.g. `https://api.pandastack.ai`; no slash at the end. */
  url: string;
  key: string;
  /** Before a request that may be sent again is. Default 500 ms, doubled each time. */
  firstRetryMs?: number;
}

export interface Executed {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** A request that brought no answer, or not the one that was asked for. */
export class ApiFault extends Error {
  override readonly name = 'ApiFault';
  /** @param status of the answer; undefined when there was none, or none that could be read. */
  constructor(
    message: string,
    readonly status?: number,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }

  /** Whether the same request may fare better in a moment. */
  get mayPass(): boolean {
    return this.status === undefined || this.status === 429 || this.status >= 500;
  }

  /** There is no such sandbox. */
  get isGone(): boolean {
    return this.status === 404 || this.status === 410;
  }
}

const TRIES = 5;
const LONGEST_RETRY_MS = 10_000;
/** Making one was seen to take long where many are made at once. */
const CREATE_MS = 120_000;
const REQUEST_MS = 60_000;

interface Sent {
  body?: BodyInit;
  json?: object;
  timeoutMs?: number;
}

export class PandastackApi {
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** @returns its id. @throws ApiFault */
  create(body: { template: string; ttl_seconds: number; metadata: object }): Promise<string> {
    return this.#patiently(async () => {
      const sent = { json: body, timeoutMs: CREATE_MS };
      const { id } = await this.#json<{ id?: unknown }>('POST', '/v1/sandboxes', sent);
      if (typeof id !== 'string' || id === '') throw new ApiFault('the answer names no sandbox');
      return id;
    });
  }

  /** Writes a file; 32 MiB at most. @throws ApiFault */
  async put(id: string, file: string, bytes: Uint8Array): Promise<void> {
    const where = `${sandboxPath(id)}/fs?path=${encodeURIComponent(file)}`;
    const body = new Uint8Array(bytes);
    await this.#patiently(() => this.#send('PUT', where, { body }));
  }

  /** Runs a shell line, and sends it once. @throws ApiFault: then it may have run, or not. */
  async execOnce(id: string, cmd: string): Promise<Executed> {
    // The server does not heed a time limit on this route; it is given for one that does.
    const json = { cmd, timeout_seconds: Math.ceil(REQUEST_MS / 1000) };
    const answer = await this.#json<Record<string, unknown>>('POST', `${sandboxPath(id)}/exec`, {
      json,
    });
    const { stdout, stderr, exit_code: exitCode } = answer;
    if (typeof stdout !== 'string' || typeof exitCode !== 'number') {
      throw new ApiFault('the answer is not that of a command');
    }
    return { stdout, stderr: typeof stderr === 'string' ? stderr : '', exitCode };
  }

  /** Runs a shell line that does no harm when it runs twice. @throws ApiFault */
  execAgain(id: string, cmd: string): Promise<Executed> {
    return this.#patiently(() => this.execOnce(id, cmd));
  }

  /** Destroys it; one that is gone is fine. @throws ApiFault */
  async remove(id: string): Promise<void> {
    await this.#patiently(() => this.#send('DELETE', sandboxPath(id))).catch((error: unknown) => {
      if (!(error instanceof ApiFault && error.isGone)) throw error;
    });
  }

  async #patiently<T>(request: () => Promise<T>): Promise<T> {
    let waitMs = this.#options.firstRetryMs ?? 500;
    for (let left = TRIES - 1; ; left -= 1) {
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof ApiFault && error.mayPass) || left === 0) throw error;
        const wanted = Math.min(error.retryAfterMs ?? waitMs, LONGEST_RETRY_MS);
        await new Promise((resolve) => setTimeout(resolve, wanted));
        waitMs *= 2;
      }
    }
  }

  async #json<T>(method: string, path: string, sent: Sent): Promise<T> {
    const text = await (await this.#send(method, path, sent)).text().catch(lost);
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) return value as T;
    } catch {
      // told below
    }
    throw new ApiFault(`the answer is not JSON: ${JSON.stringify(text.slice(0, 80))}`);
  }

  async #send(method: string, path: string, sent: Sent = {}): Promise<Response> {
    const response = await fetch(`${this.#options.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#options.key}`,
        ...(sent.json !== undefined && { 'content-type': 'application/json' }),
      },
      body: sent.json === undefined ? (sent.body ?? null) : JSON.stringify(sent.json),
      signal: AbortSignal.timeout(sent.timeoutMs ?? REQUEST_MS),
    }).catch(lost);
    if (response.ok) return response;
    const said = (await response.text().catch(() => '')).slice(0, 200);
    const after = Number(response.headers.get('retry-after'));
    throw new ApiFault(
      `PandaStack answered ${response.status}${said === '' ? '' : `: ${said}`}`,
      response.status,
      after > 0 ? after * 1000 : undefined,
    );
  }
}

function lost(error: Error): never {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  throw new ApiFault(`no answer: ${cause?.code ?? cause?.message ?? error.message}`);
}

function sandboxPath(id: string): string {
  return `/v1/sandboxes/${encodeURIComponent(id)}`;
}

/** A fault of the service as a user meets it. */
export function asUnavailable(what: string, error: unknown): unknown {
  if (!(error instanceof ApiFault)) return error;
  const isKey = error.status === 401 || error.status === 403;
  return new JobqError(
    'sandbox-unavailable',
    `${what}: ${error.message}`,
    isKey
      ? 'Check PANDASTACK_API_KEY.'
      : 'Check PANDASTACK_API and the service; jobq-dev doctor asks it.',
    { cause: error },
  );
}
