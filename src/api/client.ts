/** The API from a client's side: the same calls over HTTP or into an app of one's own process. */
import { request } from 'node:http';
import type { Hono } from 'hono';
import { type ErrorCode, JobqError } from '../errors.js';
import type { Attempt, Job } from '../job/job.js';
import { slices, stringify } from '../json.js';
import type { Arrival } from '../queue/arrivals.js';
import type { Problem } from './contract.js';

export interface Answer {
  status: number;
  text: string;
  /** The Link header: where the next page is. */
  link?: string | undefined;
}

/** Sends one request; `body` is JSON text. */
export type Send = (method: string, path: string, body?: string) => Promise<Answer>;

/** An answer whose body is read piece by piece. */
export interface OpenAnswer {
  status: number;
  body: AsyncIterable<string>;
}

/** Opens a stream: an answer that goes on. */
export type Open = (path: string, options: OpenOptions) => Promise<OpenAnswer>;

export interface OpenOptions {
  headers?: Record<string, string>;
  /** Ends the stream: its body then ends, or fails. */
  signal: AbortSignal;
}

/** Into an app of this process. */
export function inProcess(app: Hono): Send {
  return async (method, path, body) => {
    const response = await app.request(`http://127.0.0.1${path}`, {
      method,
      headers: { host: '127.0.0.1' },
      ...(body === undefined ? {} : { body }),
    });
    return {
      status: response.status,
      text: await response.text(),
      link: response.headers.get('link') ?? undefined,
    };
  };
}

/** A stream out of an app of this process. */
export function openInProcess(app: Hono): Open {
  return async (path, { headers, signal }) => {
    const response = await app.request(`http://127.0.0.1${path}`, {
      headers: { host: '127.0.0.1', ...headers },
    });
    const body = (response.body ?? new ReadableStream()) as ReadableStream<Uint8Array>;
    return { status: response.status, body: decoded(untilAborted(body, signal)) };
  };
}

/** The reader of a web stream ends it when it stops reading, but not when it only waits. */
async function* untilAborted(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const stop = () => void reader.cancel();
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await reader.cancel();
  }
}

async function* decoded(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
}

/**
 * Over HTTP. Not `fetch`: it gives up on an answer after five minutes, and a drain may take hours.
 */
export function overHttp(url: string, token?: string): Send {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(unreachable(url, error));
      const options = { method, agent: false, headers: authorization(token) } as const;
      const outgoing = request(new URL(path, url), options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', fail);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            link: response.headers.link as string | undefined,
          }),
        );
      });
      outgoing.on('error', fail);
      if (body !== undefined) outgoing.setHeader('content-type', 'application/json');
      outgoing.end(body);
    });
}

/** A stream over HTTP. */
export function openOverHttp(url: string, token?: string): Open {
  return (path, { headers = {}, signal }) =>
    new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(unreachable(url, error));
      const sent = { ...authorization(token), ...headers };
      const options = { agent: false, headers: sent, signal } as const;
      request(new URL(path, url), options, (response) =>
        resolve({ status: response.statusCode ?? 0, body: decoded(response) }),
      )
        .on('error', fail)
        .end();
    });
}

function authorization(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function unreachable(url: string, error: NodeJS.ErrnoException): JobqError {
  return new JobqError(
    'emulator-unreachable',
    `the emulator at ${url} does not answer: ${error.code ?? error.message}`,
    'It may be starting or ending; try again, or look at its terminal.',
    { cause: error },
  );
}

/**
 * Asks, and gives back the answer as its JSON text.
 * @throws JobqError with the code, message and hint that the server gave.
 */
export async function ask(
  send: Send,
  method: string,
  path: string,
  body?: unknown,
): Promise<string> {
  const { status, text } = await send(
    method,
    path,
    body === undefined ? undefined : stringify(body),
  );
  if (status < 400) return text;
  throw refusal(status, text, `${method} ${path}`);
}

/** As `ask`, for a page: with the cursor of the next one, if there is one. */
export async function askPage(
  send: Send,
  path: string,
): Promise<{ text: string; next: string | undefined }> {
  const { status, text, link } = await send('GET', path);
  if (status >= 400) throw refusal(status, text, `GET ${path}`);
  const [, target] = /^<([^>]*)>; rel="next"$/.exec(link ?? '') ?? [];
  const query = new URLSearchParams(target?.replace(/^[^?]*/, ''));
  return { text, next: query.get('before') ?? undefined };
}

/**
 * Opens a stream of text.
 * @throws JobqError with what the server gave instead.
 */
export async function openText(
  open: Open,
  path: string,
  options: OpenOptions,
): Promise<AsyncIterable<string>> {
  const { status, body } = await open(path, options);
  if (status === 200) return body;
  let text = '';
  for await (const piece of body) text += piece;
  throw refusal(status, text, `GET ${path}`);
}

/** An answer that says no, as the error that it holds. */
function refusal(status: number, text: string, asked: string): Error {
  let told: Partial<Problem> = {};
  try {
    told = { ...(JSON.parse(text) as Problem) };
  } catch {
    // Not from the emulator: said below.
  }
  if (told.code === undefined || told.code === 'internal') {
    return new Error(told.detail ?? `${asked} was answered with ${status}: ${text}`);
  }
  return new JobqError(told.code as ErrorCode, told.detail ?? '', told.hint);
}

export type JobWithAttempts = Job & { attempts_log?: Attempt[] };

/** A job from its JSON text; the payload stays text, times become dates. */
export function readJob(text: string): JobWithAttempts {
  const job = withDates(JSON.parse(text) as JobWithAttempts);
  return {
    ...job,
    payload: slices(text).get('payload')!,
    ...(job.attempts_log && { attempts_log: job.attempts_log.map(withDates) }),
  };
}

const TIMES = ['run_after', 'created_at', 'locked_at', 'started_at', 'finished_at'] as const;

/** A row whose times are texts yet. */
function withDates<Row extends Job | Attempt>(row: Row): Row {
  const values = row as unknown as Record<string, unknown>;
  const dates = TIMES.filter((key) => typeof values[key] === 'string').map((key) => [
    key,
    new Date(values[key] as string),
  ]);
  return { ...row, ...Object.fromEntries(dates) };
}

/** Jobs in the order in which they came, from `GET /arrivals`. */
export function readArrivals(text: string): Arrival[] {
  return readJobs(text);
}

export function readJobs(text: string): JobWithAttempts[] {
  return [...slices(text).values()].map(readJob);
}
