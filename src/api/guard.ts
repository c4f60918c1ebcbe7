import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { JobqError } from '../errors.js';
import { BODY_LIMIT_BYTES } from './contract.js';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/**
 * Refuses requests that a web page could have sent: this API runs code. A page under a name that
 * points at 127.0.0.1 shows itself by its Host, any other page by its Origin (process-compose
 * GHSA-5gm3-9crp-6g3v).
 */
export const loopbackOnly: MiddlewareHandler = async (context, next) => {
  const host = context.req.header('host');
  const origin = context.req.header('origin');
  const foreign =
    host === undefined || !LOOPBACK.test(host)
      ? `Host ${JSON.stringify(host ?? '')}`
      : origin !== undefined && !LOOPBACK.test(origin.replace(/^https?:\/\//, ''))
        ? `Origin ${JSON.stringify(origin)}`
        : undefined;
  if (foreign !== undefined) throw new ForeignRequest(foreign);
  await next();
};

/** What may be asked without a token: whether it lives, by whoever watches over it. */
export const OPEN_PATHS: readonly string[] = ['/healthz', '/readyz'];

/** Refuses requests without `Authorization: Bearer <token>` (RFC 6750). */
export function tokenOnly(token: string): MiddlewareHandler {
  const wanted = digest(token);
  return async (context, next) => {
    const [, given] = /^Bearer +(.+)$/i.exec(context.req.header('authorization') ?? '') ?? [];
    const isOpen = OPEN_PATHS.includes(context.req.path);
    // Compared by digests: of one length, and in a time that says nothing about where they differ.
    if (!isOpen && !(given !== undefined && timingSafeEqual(digest(given), wanted))) {
      throw new TokenNeeded(given !== undefined);
    }
    await next();
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export class TokenNeeded extends JobqError {
  constructor(given: boolean) {
    super(
      'usage',
      given
        ? 'the token is not the one of this emulator'
        : 'this emulator answers only with a token',
      'Send "Authorization: Bearer <token>"; commands take it from --token or JOBQ_TOKEN.',
    );
  }
}

export class ForeignRequest extends JobqError {
  constructor(what: string) {
    super(
      'usage',
      `a request with ${what} is refused: this API runs code and answers only this machine`,
      'Call it by http://127.0.0.1 or http://localhost, from no web page.',
    );
  }
}

export class BodyTooLarge extends JobqError {
  constructor() {
    super(
      'input',
      `the body is larger than ${BODY_LIMIT_BYTES} bytes`,
      'Send the jobs in several requests; nothing was inserted.',
    );
  }
}
