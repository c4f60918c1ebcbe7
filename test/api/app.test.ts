import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApp } from '#src/api/app.js';
import { BODY_LIMIT_BYTES, ENQUEUE_LIMIT } from '#src/api/contract.js';
import { Service } from '#src/api/service.js';
import { Cron } from '#src/drain/cron.js';
import { JobqError } from '#src/errors.js';
import { slices } from '#src/json.js';
import { createSchedule } from '#src/schedule.js';
import { exited } from '../support/fake-provider.js';
import { apiWorld } from './world.js';

const world = apiWorld();

interface Reply {
  status: number;
  type: string | null;
  text: string;
  /** The body, parsed: numbers in payloads lose digits here. */
  body: unknown;
}

async function ask(method: string, path: string, body?: unknown, app = world.app): Promise<Reply> {
  const response = await app.request(`http://127.0.0.1${path}`, {
    method,
    headers: { host: '127.0.0.1' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    text,
    body: JSON.parse(text),
  };
}

/** Inserts jobs. */
const post = (...jobs: object[]) => ask('POST', '/jobs', jobs);
const countJobs = async () => {
  const { rows } = await world.db.query<{ count: number }>('select count(*)::int from jobs');
  return rows[0]!.count;
};

/** That a reply is a problem document (RFC 9457) with this tool's code. */
function expectProblem(reply: Reply, status: number, code: string, detail: RegExp | string): void {
  expect(reply).toMatchObject({
    status,
    type: 'application/problem+json',
    body: { type: 'about:blank', title: code, status, code },
  });
  const told = (reply.body as { detail: string }).detail;
  if (typeof detail === 'string') expect(told).toBe(detail);
  else expect(told).toMatch(detail);
}

describe('a payload', () => {
  it.each([
    '{"id": 1970670598291982290}',
    '{"n": 0.1234567890123456789012345678901234567890}',
    '[12345678901234567890123456789, -1.50, 0.00]',
    '"text with \\"quotes\\" and 🦀"',
    'null',
    'true',
    '{"a": {"b": [{"c": "\\\\u0000"}]}}',
  ])('%s comes back digit for digit, wherever it is read', async (payload) => {
    const posted = await ask('POST', '/jobs', `{"kind":"work","payload":${payload}}`);
    expect(posted).toMatchObject({ status: 201, body: { ids: ['1'] } });
    const [listed] = [...slices((await ask('GET', '/jobs')).text).values()];
    for (const text of [
      listed!,
      (await ask('GET', '/jobs/1')).text,
      (await ask('PATCH', '/jobs/1', '{"max_attempts":4}')).text,
      (await ask('PATCH', '/jobs/1', `{"payload":${payload}}`)).text,
      (await ask('POST', '/jobs/1/cancel')).text,
      (await ask('POST', '/jobs/1/retry')).text,
    ]) {
      expect(slices(text).get('payload')).toBe(payload);
    }
  });

  it('keeps every digit of any integer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), async (id) => {
        const { body } = await ask('POST', '/jobs', `{"kind":"work","payload":{"id":${id}}}`);
        const [job] = (body as { ids: string[] }).ids;
        const shown = slices((await ask('GET', `/jobs/${job}`)).text);
        expect(slices(shown.get('payload')!).get('id')).toBe(String(id));
      }),
      { numRuns: 30 },
    );
  });

  it('is {} when left out, and null when it is null', async () => {
    await post({ kind: 'work' }, { kind: 'work', payload: null });
    expect(slices((await ask('GET', '/jobs/1')).text).get('payload')).toBe('{}');
    expect(slices((await ask('GET', '/jobs/2')).text).get('payload')).toBe('null');
  });

  it('of two keys of one name is the last, as in jsonb', async () => {
    await ask('POST', '/jobs', '{"payload":{"a":1,"a":2},"kind":"old","kind":"work","payload":7}');
    expect((await ask('GET', '/jobs/1')).body).toMatchObject({ kind: 'work', payload: 7 });
  });
});

describe('POST /jobs', () => {
  it('inserts one job, with the table’s defaults and this clock’s time', async () => {
    expect((await ask('POST', '/jobs', { kind: 'work' })).body).toEqual({ ids: ['1'] });
    const { body, type } = await ask('GET', '/jobs/1');
    expect(type).toBe('application/json');
    expect(body).toMatchObject({
      id: '1',
      kind: 'work',
      status: 'pending',
      attempts: 0,
      max_attempts: 3,
      locked_at: null,
      last_error: null,
      attempts_log: [],
    });
    const { run_after, created_at } = body as { run_after: string; created_at: string };
    expect(run_after).toBe(created_at);
    expect(Math.abs(Date.parse(run_after) - world.clock.now().getTime())).toBeLessThan(60_000);
  });

  it('inserts many, in order, with copies, all fields and one event', async () => {
    const seen: string[][] = [];
    world.events.on('enqueued', ({ ids }) => seen.push(ids));
    const reply = await post(
      { kind: 'a', count: 2 },
      { kind: 'b/c', run_after: '2030-01-01T02:00:00+02:00', max_attempts: 7 },
    );
    expect(reply).toMatchObject({ status: 201, body: { ids: ['1', '2', '3'] } });
    expect(seen).toEqual([['1', '2', '3']]);
    expect((await ask('GET', '/jobs')).body).toMatchObject([
      { id: '3', kind: 'b/c', run_after: '2030-01-01T00:00:00.000Z', max_attempts: 7 },
      { id: '2', kind: 'a' },
      { id: '1', kind: 'a' },
    ]);
  });

  it('takes an empty array for what it is', async () => {
    expect(await ask('POST', '/jobs', ' []')).toMatchObject({ status: 201, body: { ids: [] } });
  });

  it.each<[string, string, RegExp | string]>([
    ['nothing', '', 'the body is no JSON object: line 1, column 1: the JSON ends too early'],
    [
      'bad JSON',
      '{"kind":"work",}',
      'the body is no JSON object: line 1, column 16: unexpected "}"',
    ],
    ['text', '"work"', /^the body is no JSON object/],
    ['an array of arrays', '[[]]', 'the body is no JSON object'],
    ['an array of numbers', '[1]', /^the body is no JSON object/],
    ['no kind', '{"payload":{"kind":"x"}}', 'kind is missing'],
    ['an empty kind', '{"kind":""}', 'kind: may not be empty'],
    ['a kind that is a number', '{"kind":7}', 'kind: expected string, received number'],
    [
      'an unknown field',
      '{"kind":"x","max_attempt":3}',
      'unknown field "max_attempt", did you mean "max_attempts"?',
    ],
    ['a field far from any', '{"kind":"x","zebra":3}', 'unknown field "zebra"'],
    [
      'a field of the table that is not to be set',
      '{"kind":"x","status":"done"}',
      /^unknown field "status"/,
    ],
    ['__proto__', '{"kind":"x","__proto__":{"count":5}}', /unknown field "__proto__"/],
    ['max_attempts 0', '{"kind":"x","max_attempts":0}', /^max_attempts: /],
    ['max_attempts that no int holds', '{"kind":"x","max_attempts":2147483648}', /^max_attempts: /],
    ['count 0', '{"kind":"x","count":0}', /^count: /],
    ['a count over the limit', `{"kind":"x","count":${ENQUEUE_LIMIT + 1}}`, /^count: /],
    [
      'counts over the limit together',
      `[{"kind":"x","count":${ENQUEUE_LIMIT}},{"kind":"x"}]`,
      'one request may insert 100000 jobs at most',
    ],
    ['a run_after that is no time', '{"kind":"x","run_after":"5m"}', /^run_after: /],
    [
      'a run_after of a day that is not',
      '{"kind":"x","run_after":"2026-02-30T00:00:00Z"}',
      /^run_after: /,
    ],
    [
      'a run_after without a zone',
      '{"kind":"x","run_after":"2026-02-03T00:00:00"}',
      /^run_after: /,
    ],
    [
      'a NUL in the payload',
      '{"kind":"x","payload":"\\u0000"}',
      /the database cannot hold this job: .*u0000/,
    ],
    [
      'half a character in the payload',
      '{"kind":"x","payload":"\\ud83e"}',
      /the database cannot hold this job/,
    ],
    ['a NUL in the kind', '{"kind":"x\\u0000"}', /the database cannot hold this job: .*NUL/],
    [
      'a number beyond numeric',
      '{"kind":"x","payload":1e999999}',
      /the database cannot hold this job/,
    ],
  ])('refuses %s, and inserts nothing', async (_what, body, detail) => {
    expectProblem(await ask('POST', '/jobs', body), 400, 'input', detail);
    if (body.startsWith('{"')) {
      expectProblem(await ask('POST', '/jobs', `[{"kind":"good"},${body}]`), 400, 'input', /./);
    }
    expect(await countJobs()).toBe(0);
  });

  it('refuses a body over the limit, declared or not, and inserts nothing', async () => {
    const send = (body: BodyInit, headers: object = {}) =>
      world.app.request('http://127.0.0.1/jobs', {
        method: 'POST',
        headers: { host: '127.0.0.1', ...headers },
        body,
        duplex: 'half',
      } as RequestInit);
    const mebibyte = new Uint8Array(1024 ** 2).fill(0x20);
    let left = BODY_LIMIT_BYTES / mebibyte.length + 1;
    const endless = new ReadableStream({
      pull(controller) {
        left -= 1;
        if (left < 0) controller.close();
        else controller.enqueue(mebibyte);
      },
    });
    for (const response of [
      await send('{"kind":"work"}', { 'content-length': String(BODY_LIMIT_BYTES + 1) }),
      await send(endless),
    ]) {
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ status: 413, code: 'input' });
    }
    expect(await countJobs()).toBe(0);
  });

  it('takes a payload of megabytes', async () => {
    const text = '🦀'.repeat(500_000);
    await ask('POST', '/jobs', { kind: 'work', payload: { text } });
    const { body } = await ask('GET', '/jobs/1');
    expect((body as { payload: { text: string } }).payload.text === text).toBe(true);
  });
});

describe('GET /jobs', () => {
  it('pages by id, newest first, and filters', async () => {
    await post({ kind: 'a', count: 3 }, { kind: 'b', count: 2 });
    await ask('POST', '/jobs/2/cancel');
    const ids = async (query: string) =>
      ((await ask('GET', `/jobs${query}`)).body as { id: string }[]).map(({ id }) => id);
    expect(await ids('')).toEqual(['5', '4', '3', '2', '1']);
    expect(await ids('?limit=2')).toEqual(['5', '4']);
    expect(await ids('?limit=2&before=4')).toEqual(['3', '2']);
    expect(await ids('?kind=b')).toEqual(['5', '4']);
    expect(await ids('?status=dead')).toEqual(['2']);
    expect(await ids('?status=pending&kind=a')).toEqual(['3', '1']);
    expect(await ids(`?kind=${encodeURIComponent("' or 1=1 --")}`)).toEqual([]);
    expect(await ids('?text=BY+HAND')).toEqual(['2']);
    expect(await ids('?attempted=true')).toEqual([]);
    expect(await ids('?order=next&status=pending')).toEqual(['1', '3', '4', '5']);
  });

  it('says where the next page begins, with the same filters', async () => {
    await post({ kind: 'a b', count: 5 }, { kind: 'c', count: 2 });
    for (const order of ['newest', 'next']) {
      const seen: string[] = [];
      let path = `/jobs?kind=a%20b&order=${order}&limit=2`;
      for (;;) {
        const response = await world.app.request(`http://127.0.0.1${path}`, {
          headers: { host: '127.0.0.1' },
        });
        seen.push(...((await response.json()) as { id: string }[]).map(({ id }) => id));
        const link = response.headers.get('link');
        if (link === null) break;
        path = /^<(.*)>; rel="next"$/.exec(link)![1]!;
      }
      expect(seen).toEqual(
        order === 'next' ? ['1', '2', '3', '4', '5'] : ['5', '4', '3', '2', '1'],
      );
    }
  });

  it('leaves payloads out on request', async () => {
    await post({ kind: 'a', payload: { big: 1 } });
    expect((await ask('GET', '/jobs?payload=false')).body).toEqual([
      expect.not.objectContaining({ payload: expect.anything() }),
    ]);
  });

  it.each([
    ['?status=failed', /^status: /],
    ['?limit=0', /^limit: /],
    ['?limit=1001', /^limit: /],
    ['?limit=many', /^limit: /],
    ['?limit=', /^limit: /],
    ['?before=x', 'before: is no id'],
    [`?before=${'9'.repeat(19)}`, 'before: is no id'],
    ['?before=-1', 'before: is no id'],
    ['?order=next&before=7', 'before: is no place in this order'],
    ['?order=last', /^order: /],
    ['?attempted=yes', /^attempted: /],
    ['?stauts=dead', 'unknown field "stauts", did you mean "status"?'],
  ])('refuses %s', async (query, detail) => {
    expectProblem(await ask('GET', `/jobs${query}`), 400, 'input', detail);
  });
});

describe('one job', () => {
  it.each(['2', '0', '-1', 'x', '1.0', '01x', '9'.repeat(18), '9'.repeat(40), '%00', '..', '1%27'])(
    'that is not there is 404: %s',
    async (id) => {
      await post({ kind: 'work' });
      for (const [method, suffix, body] of [
        ['GET', '', undefined],
        ['PATCH', '', '{}'],
        ['POST', '/retry', undefined],
        ['POST', '/cancel', undefined],
        ['GET', '/explain', undefined],
      ] as const) {
        expectProblem(await ask(method, `/jobs/${id}${suffix}`, body), 404, 'not-found', /./);
      }
    },
  );

  it('is shown with its attempts', async () => {
    await post({ kind: 'work' });
    await ask('POST', '/drain');
    expect((await ask('GET', '/jobs/1')).body).toMatchObject({
      status: 'done',
      attempts: 1,
      attempts_log: [{ attempt: 1, outcome: 'exited', exit_code: 0, provider: 'process' }],
    });
  });

  it('is edited in place while it is pending', async () => {
    await post({ kind: 'work' });
    const reply = await ask(
      'PATCH',
      '/jobs/1',
      '{"payload":{"id":1970670598291982290},"run_after":"2030-01-01T00:00:00Z","max_attempts":9}',
    );
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('1970670598291982290');
    expect(reply.body).toMatchObject({
      id: '1',
      run_after: '2030-01-01T00:00:00.000Z',
      max_attempts: 9,
      parent_id: null,
    });
  });

  it('is copied by an edit when it is over', async () => {
    await post({ kind: 'work', payload: { n: 1 } });
    await ask('POST', '/drain');
    expect((await ask('PATCH', '/jobs/1', { payload: { n: 2 } })).body).toMatchObject({
      id: '2',
      parent_id: '1',
      payload: { n: 2 },
      status: 'pending',
    });
    expect((await ask('GET', '/jobs/1')).body).toMatchObject({ status: 'done', payload: { n: 1 } });
  });

  it.each<[string, RegExp | string]>([
    ['', /ends too early/],
    ['[]', 'the body is no JSON object'],
    ['{"kind":"other"}', /^unknown field "kind"/],
    ['{"max_attempts":"3"}', 'max_attempts: expected number, received string'],
    ['{"payload":"\\u0000"}', /the database cannot hold this job/],
  ])('is not edited by %j', async (body, detail) => {
    await post({ kind: 'work' });
    expectProblem(await ask('PATCH', '/jobs/1', body), 400, 'input', detail);
  });

  it('is retried only when it is dead', async () => {
    await post({ kind: 'work' });
    expectProblem(
      await ask('POST', '/jobs/1/retry'),
      409,
      'conflict',
      'job 1 is pending, and only a dead job can be retried',
    );
    await ask('POST', '/jobs/1/cancel');
    expect((await ask('POST', '/jobs/1/retry')).body).toMatchObject({
      status: 'pending',
      attempts: 0,
    });
  });

  it('cannot be edited while it runs: 409, with what to do', async () => {
    world.provider.answer = () => undefined;
    await post({ kind: 'work' });
    const drained = ask('POST', '/drain');
    await world.provider.started(1);
    const reply = await ask('PATCH', '/jobs/1', '{"max_attempts":9}');
    expectProblem(reply, 409, 'conflict', /^job 1 is running/);
    expect(reply.body).toMatchObject({ hint: expect.stringContaining('jobs cancel 1') });
    world.provider.running[0]!.end(exited(0));
    expect((await drained).body).toMatchObject({ claimed: 1, done: 1 });
  });

  it('that is cancelled while it runs is killed at once, where the drainer is', async () => {
    world.provider.answer = () => undefined;
    const schedule = createSchedule('* * * * *', 'UTC');
    const cron = new Cron(world.clock, schedule, () => {});
    const app = createApp(new Service({ ...world.options, cron }));
    await post({ kind: 'work' });
    const drained = ask('POST', '/drain', undefined, app);
    await world.provider.started(1);
    expect((await ask('POST', '/jobs/1/cancel', undefined, app)).body).toMatchObject({
      status: 'dead',
    });
    await drained;
    expect(world.provider.runs[0]!.killed).toBe(true);
    expect((await ask('GET', '/jobs/1')).body).toMatchObject({
      status: 'dead',
      attempts_log: [{ outcome: 'superseded' }],
    });
  });

  it('is explained, control characters of its kind included', async () => {
    await post({ kind: 'work' }, { kind: 'x\n\u001b[2J' });
    expect((await ask('GET', '/jobs/1/explain')).body).toMatchObject({
      id: '1',
      status: 'pending',
      reasons: [
        expect.stringMatching(/^It has been due for/),
        expect.stringMatching(/^It is first in line/),
        expect.stringMatching(/^No drainer runs here/),
      ],
    });
    const { reasons } = (await ask('GET', '/jobs/2/explain')).body as { reasons: string[] };
    expect(reasons.at(-1)).toMatch(/fail: no handler for kind "x\\n\\x1b\[2J"/);
    expect(reasons.join('')).not.toMatch(/\p{Cc}/u);
  });
});

describe('all jobs', () => {
  it('that are dead are retried, or those of one kind', async () => {
    await post({ kind: 'a', count: 2 }, { kind: 'b' }, { kind: 'c' });
    for (const id of [1, 2, 3]) await ask('POST', `/jobs/${id}/cancel`);
    expect((await ask('POST', '/jobs/retry', { kind: 'b' })).body).toEqual({ retried: 1 });
    expect((await ask('POST', '/jobs/retry')).body).toEqual({ retried: 2 });
    expectProblem(
      await ask('POST', '/jobs/retry', { knd: 'b' }),
      400,
      'input',
      'unknown field "knd", did you mean "kind"?',
    );
  });

  it('are drained, with counts, and counted', async () => {
    world.provider.answer = (run) => exited(run.label === 'job 2' ? 1 : 0, 'no luck');
    await post({ kind: 'work', count: 3 });
    expect((await ask('POST', '/drain')).body).toEqual({
      claimed: 3,
      done: 2,
      retried: 1,
      dead: 0,
      reaped: 0,
    });
    expect((await ask('GET', '/stats')).body).toMatchObject({
      counts: { pending: 1, running: 0, done: 2, dead: 0 },
      due: 0,
      oldest_waiting_ms: null,
    });
  });
});

describe('the tool itself', () => {
  it('says that it lives, that it is ready, and what it is', async () => {
    expect(await ask('GET', '/healthz')).toMatchObject({ status: 200, body: { ok: true } });
    expect(await ask('GET', '/readyz')).toMatchObject({ status: 200, body: { ok: true } });
    expect((await ask('GET', '/info')).body).toMatchObject({
      version: '0.0.0',
      pid: process.pid,
      database: { driver: 'pglite' },
      sandbox: { provider: 'process', isolation: 'none' },
      handlers: world.handlersDir,
      cron: { expression: '* * * * *', timezone: 'UTC', next_tick: null, paused: false },
      concurrency: 2,
      clock_offset_ms: 0,
    });
  });

  it('is not ready, and still alive, when its database is away', async () => {
    const away = new JobqError('database-unreachable', 'no answer from the database', 'Start it.');
    const db = { ...world.db, query: async () => Promise.reject(away) };
    const app = createApp(new Service({ ...world.options, db: db as never }));
    const reply = await ask('GET', '/readyz', undefined, app);
    expectProblem(reply, 503, 'database-unreachable', 'no answer from the database');
    expect(reply.body).toMatchObject({ hint: 'Start it.' });
    expect((await ask('GET', '/healthz', undefined, app)).status).toBe(200);
  });

  it('answers a fault of its own with a problem too', async () => {
    const db = { ...world.db, query: async () => Promise.reject(new TypeError('x of undefined')) };
    const app = createApp(new Service({ ...world.options, db: db as never }));
    expectProblem(await ask('GET', '/stats', undefined, app), 500, 'internal', 'x of undefined');
  });

  it.each([
    ['GET', '/'],
    ['GET', '/job'],
    ['DELETE', '/jobs/1'],
    ['POST', '/stats'],
    ['GET', '/jobs/1/retry'],
    ['GET', '/%2e%2e/etc/passwd'],
  ])('has nothing at %s %s', async (method, path) => {
    expectProblem(await ask(method, path), 404, 'not-found', /^there is nothing at /);
  });
});

describe('POST /prune', () => {
  const DAY_MS = 86_400_000;
  /** Jobs that finished so many days ago, each with what its handler wrote. */
  async function finished(...daysAgo: number[]): Promise<string[]> {
    const { rows } = await world.db.query<{ id: string }>(
      `insert into jobs (kind, payload, status, attempts, finished_at)
       select 'a', '{}', 'done', 1, now() - days * interval '1 day'
       from unnest($1::float8[]) as days returning id`,
      [daysAgo],
    );
    for (const { id } of rows)
      mkdirSync(path.join(world.options.outputRoot, id), { recursive: true });
    return rows.map(({ id }) => id);
  }
  const outputs = () => readdirSync(world.options.outputRoot).sort();

  it('deletes done jobs beyond either rule, with their outputs', async () => {
    const [, older, oldest] = await finished(1, 3, 9);
    const dry = await ask('POST', '/prune', { keep_ms: 2 * DAY_MS, dry_run: true });
    expect(dry.body).toEqual({ pruned: 2, dry_run: true });
    expect(await ask('POST', '/prune', { keep_ms: 4 * DAY_MS })).toMatchObject({
      status: 200,
      body: { pruned: 1, dry_run: false },
    });
    expect(outputs()).not.toContain(oldest);
    expect(outputs()).toContain(older);
    expect((await ask('POST', '/prune', { keep_jobs: 0 })).body).toEqual({
      pruned: 2,
      dry_run: false,
    });
    expect(outputs()).toEqual([]);
    expect(await countJobs()).toBe(0);
  });

  it.each([
    [{}, 'nothing is said of what to keep'],
    [{ keep_ms: 0 }, /^keep_ms: /],
    [{ keep_jobs: -1 }, /^keep_jobs: /],
    [{ keep_job: 1 }, 'unknown field "keep_job", did you mean "keep_jobs"?'],
  ])('deletes nothing for %j', async (body, detail) => {
    await finished(9);
    expectProblem(await ask('POST', '/prune', body), 400, 'input', detail);
    expect(await countJobs()).toBe(1);
  });
});

describe('GET /stats', () => {
  it('counts everything when it is asked to', async () => {
    await world.db.exec(
      `insert into jobs (kind, payload) select 'a', '{}' from generate_series(1, 10001)`,
    );
    expect((await ask('GET', '/stats')).body).toMatchObject({
      counts: { pending: 10_000 },
      estimated: ['pending', 'due'],
    });
    expect((await ask('GET', '/stats?exact=true')).body).toMatchObject({
      counts: { pending: 10_001 },
      due: 10_001,
      estimated: [],
    });
    expectProblem(await ask('GET', '/stats?exact=yes'), 400, 'input', /^exact: /);
  });
});
