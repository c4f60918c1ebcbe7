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
}

/** Sends one request; `body` is JSON text. */
export type Send = (method: string, path: string, body?: string) => Promise<Answer>;

/** Into an app of this process. */
export function inProcess(app: Hono): Send {
  return async (method, path, body) => {
    const response = await app.request(`http://127.0.0.1${path}`, {
      method,
      headers: { host: '127.0.0.1' },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, text: await response.text() };
  };
}

/**
 * Over HTTP. Not `fetch`: it gives up on an answer after five minutes, and a drain may take hours.
 */
export function overHttp(url: string): Send {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException) =>
        reject(
          new JobqError(
            'emulator-unreachable',
            `the emulator at ${url} does not answer: ${error.code ?? error.message}`,
            'It may be starting or ending; try again, or look at its terminal.',
            { cause: error },
          ),
        );
      const outgoing = request(new URL(path, url), { method, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', fail);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
      });
      outgoing.on('error', fail);
      if (body !== undefined) outgoing.setHeader('content-type', 'application/json');
      outgoing.end(body);
    });
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
  let told: Partial<Problem> = {};
  try {
    told = { ...(JSON.parse(text) as Problem) };
  } catch {
    // Not from the emulator: said below.
  }
  if (told.code === undefined || told.code === 'internal') {
    throw new Error(told.detail ?? `${method} ${path} was answered with ${status}: ${text}`);
  }
  throw new JobqError(told.code as ErrorCode, told.detail ?? '', told.hint);
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
