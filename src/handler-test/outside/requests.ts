/** What a handler asked of the far side, and which requests do something twice when repeated. */

/** A request that the proxy caught. */
export interface SentRequest {
  /** The attempt that sent it. */
  attempt: number;
  method: string;
  /** Absolute. */
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** As text; invalid bytes as U+FFFD. */
  body: string;
  /** What came of it: an answer from the file, a refusal, a failure made on purpose, … */
  answered: 'listed' | 'refused' | 'failed' | 'held' | 'passed on';
  /** Whether the file of answers says that a repeat counts once. */
  idempotent: boolean;
  /** Whether the file of answers says that the handler may go on without it. */
  optional: boolean;
}

/** Headers by which the far side knows a repeat (Idempotency-Key: Stripe, the IETF draft; …). */
const KEY_HEADERS = [
  'idempotency-key',
  'x-idempotency-key',
  'paypal-request-id',
  'repeatability-request-id',
];
/** Fields of a JSON body that do the same (Square, Adyen; AWS). */
const KEY_FIELDS = ['idempotency_key', 'idempotencyKey', 'clientToken', 'ClientToken'];

/** Whether it changes something on the far side. */
export function changes({ method }: SentRequest): boolean {
  return ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method);
}

/** The key by which the far side takes repeats of a request for one. */
export function idempotencyKey({ headers, body }: SentRequest): string | undefined {
  for (const name of KEY_HEADERS) {
    if (headers[name]) return headers[name];
  }
  if (!body.trimStart().startsWith('{')) return undefined;
  try {
    const fields = JSON.parse(body) as Record<string, unknown>;
    const name = KEY_FIELDS.find((each) => typeof fields[each] === 'string' && fields[each] !== '');
    return name === undefined ? undefined : (fields[name] as string);
  } catch {
    return undefined;
  }
}

/** `POST https://api.example.com/charges`, without what stands behind a `?`. */
export function target({ method, url }: Pick<SentRequest, 'method' | 'url'>): string {
  return `${method} ${url.replace(/[?#].*$/s, '')}`;
}

/** Something that was done on the far side, once however often it was asked for. */
export interface Effect {
  /** Equal for what is the same on the far side. */
  id: string;
  target: string;
  key: string | undefined;
  body: string;
}

/**
 * What the far side has done after these requests. Repeats with the same key, or that the file of
 * answers calls idempotent, count once. Keys are numbered by their first use, so that the ends of
 * two jobs with random keys of their own compare equal.
 */
export function effects(requests: readonly SentRequest[]): Effect[] {
  const done = new Map<string, Effect>();
  const keys = new Map<string, string[]>();
  let unkeyed = 0;
  for (const request of requests) {
    // What was answered with a failure was not done: its repeat is no second time.
    if (!changes(request) || request.answered === 'failed') continue;
    const where = target(request);
    const key = idempotencyKey(request);
    let id: string;
    if (key !== undefined) {
      const known = keys.get(where) ?? [];
      if (!known.includes(key)) known.push(key);
      keys.set(where, known);
      id = `${where} #${known.indexOf(key) + 1}`;
    } else if (request.idempotent) {
      id = `${request.method} ${request.url} ${request.body}`;
    } else {
      unkeyed += 1;
      id = `${where} without a key, ${unkeyed}`;
    }
    const before = done.get(id);
    if (before !== undefined && before.body === request.body) continue;
    // The same key with another body: the far side refuses it, or does what it did before.
    const effect = { id, target: where, key, body: request.body };
    done.set(before === undefined ? id : `${id}, other body`, effect);
  }
  return [...done.values()];
}
