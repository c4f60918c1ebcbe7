/** Answers: JSON, streams of text, and errors as problem documents (RFC 9457). */
import type { Context } from 'hono';
import { type ErrorCode, JobqError } from '../errors.js';
import type { Job } from '../job/job.js';
import { RawJson, stringify } from '../json.js';
import type { Problem } from './contract.js';
import { BodyTooLarge, ForeignRequest, TokenNeeded } from './guard.js';

export function json(context: Context, value: unknown, status: 200 | 201 = 200): Response {
  return context.body(stringify(value), status, { 'content-type': 'application/json' });
}

/** A job with its payload as it stands in the table. */
export function withPayload<T extends Job>(job: T): object {
  return { ...job, payload: new RawJson(job.payload) };
}

/**
 * A body that comes piece by piece, each when the reader has room for it: one that is slow makes
 * nothing pile up here.
 * @param start is given a signal that is aborted when the reader is gone.
 */
export async function stream(
  context: Context,
  type: string,
  start: (signal: AbortSignal) => AsyncGenerator<string>,
): Promise<Response> {
  const gone = new AbortController();
  const pieces = start(gone.signal);
  // An error before the first piece is still an answer of its own.
  let piece: IteratorResult<string> | undefined = await pieces.next();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = piece ?? (await pieces.next());
      piece = undefined;
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel() {
      gone.abort();
    },
  });
  return context.body(body, 200, { 'content-type': type, 'cache-control': 'no-store' });
}

const STATUS: Record<ErrorCode, 400 | 404 | 409 | 503> = {
  usage: 400,
  config: 400,
  input: 400,
  'not-found': 404,
  conflict: 409,
  'port-taken': 503,
  'directory-locked': 503,
  'directory-unusable': 503,
  'database-unreachable': 503,
  'database-refused': 503,
  'sandbox-unavailable': 503,
  'emulator-unreachable': 503,
};

function statusOf(error: Error): (typeof STATUS)[ErrorCode] | 401 | 403 | 413 | 500 {
  if (error instanceof TokenNeeded) return 401;
  if (error instanceof ForeignRequest) return 403;
  if (error instanceof BodyTooLarge) return 413;
  return error instanceof JobqError ? STATUS[error.code] : 500;
}

export function problem(context: Context, error: Error): Response {
  const known = error instanceof JobqError ? error : undefined;
  const status = statusOf(error);
  const body: Problem = {
    type: 'about:blank',
    title: known?.code ?? 'internal',
    status,
    detail: error.message,
    code: known?.code ?? 'internal',
    ...(known?.hint === undefined ? {} : { hint: known.hint }),
  };
  return context.body(JSON.stringify(body), status, {
    'content-type': 'application/problem+json',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
}
