import { describe, expect, it } from 'vitest';
import { beyond, differences, type OutsideState } from '#src/handler-test/outside/differences.js';
import { idempotencyKey, type SentRequest } from '#src/handler-test/outside/requests.js';

const post = (more: Partial<SentRequest> = {}): SentRequest => ({
  attempt: 1,
  method: 'POST',
  url: 'https://pay.test/charges',
  headers: {},
  body: '{"amount":1}',
  answered: 'listed',
  idempotent: false,
  optional: false,
  ...more,
});
const keyed = (key: string, more: Partial<SentRequest> = {}) =>
  post({ headers: { 'idempotency-key': key }, ...more });
const world = (
  requests: SentRequest[],
  files: Record<string, string> = {},
  rows: Record<string, string> = {},
): OutsideState => ({
  requests,
  files: new Map(Object.entries(files)),
  rows: new Map(Object.entries(rows)),
});
const whats = (before: OutsideState, after: OutsideState) =>
  differences(before, after).map(({ what, where }) => `${what} ${where}`);

describe('requests', () => {
  const once = world([post()]);

  it('that change something may not be repeated without a key', () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const sent = post({ method });
      expect(whats(world([sent]), world([sent, sent]))).toEqual([
        `request-repeated ${method} https://pay.test/charges`,
      ]);
    }
    const get = post({ method: 'GET' });
    expect(whats(world([get]), world([get, get]))).toEqual([]);
  });

  it('count once with the same key, wherever it stands, and not with another', () => {
    expect(whats(world([keyed('a')]), world([keyed('a'), keyed('a')]))).toEqual([]);
    expect(whats(world([keyed('a')]), world([keyed('a'), keyed('b')]))).toEqual([
      'request-repeated POST https://pay.test/charges',
    ]);
    expect(idempotencyKey(post({ body: '{"idempotency_key":"x"}' }))).toBe('x');
    expect(idempotencyKey(post({ body: '{"idempotency_key":1}' }))).toBeUndefined();
    expect(idempotencyKey(post({ body: '{broken' }))).toBeUndefined();
  });

  it('with the same key and another body are told apart', () => {
    const [found] = differences(
      world([keyed('a')]),
      world([keyed('a'), keyed('a', { body: '{"amount":2}' })]),
    );
    expect(found!.message).toContain('with the same idempotency key and another body');
    expect(found!.diff).toContain('-{"amount":1}\n+{"amount":2}');
  });

  it('of two jobs compare equal when only their random keys differ', () => {
    expect(whats(world([keyed('a'), keyed('b')]), world([keyed('x'), keyed('y')]))).toEqual([]);
  });

  it('that the far side calls idempotent, or that it has failed, may be repeated', () => {
    const put = post({ method: 'PUT', idempotent: true });
    expect(whats(world([put]), world([put, put]))).toEqual([]);
    expect(whats(once, world([post({ answered: 'failed' }), post()]))).toEqual([]);
  });

  it('that are missing, new or changed are named so', () => {
    const mail = post({ url: 'https://mail.test/send?x=1' });
    expect(whats(once, world([]))).toEqual(['request-missing POST https://pay.test/charges']);
    expect(whats(once, world([post(), mail]))).toEqual([
      'request-added POST https://mail.test/send',
    ]);
    expect(whats(once, world([post({ body: '{"amount":2}' })]))).toEqual([
      'request-changed POST https://pay.test/charges',
    ]);
  });
});

describe('files', () => {
  it('that are missing, new or another are named, with a diff', () => {
    const before = world([], { a: 'one\ntwo\n', b: 'x', c: 'same' });
    const after = world([], { a: 'one\n2\n', c: 'same', d: 'new\n' });
    expect(whats(before, after)).toEqual(['file-changed a', 'file-missing b', 'file-added d']);
    expect(differences(before, after)[0]!.diff).toContain('-two\n+2');
  });
});

describe('rows', () => {
  it('are compared table by table', () => {
    const before = world([], {}, { 'public.a': '{"n": 1}\n', 'public.b': '' });
    const after = world([], {}, { 'public.a': '{"n": 1}\n{"n": 1}\n', 'public.b': '' });
    expect(whats(before, after)).toEqual(['row-changed public.a']);
    expect(differences(before, after)[0]!.diff).toContain('+{"n": 1}');
  });
});

describe('what differs between two clean runs as well', () => {
  it('is left out, and nothing else', () => {
    const found = differences(world([], { a: '1', b: '1' }), world([], { a: '2', b: '2' }));
    const chance = differences(world([], { a: '1', b: '1' }), world([], { a: '3', b: '1' }));
    expect(beyond(found, chance).map(({ where }) => where)).toEqual(['b']);
  });
});
