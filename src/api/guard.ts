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
