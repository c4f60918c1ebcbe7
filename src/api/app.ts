/** The HTTP API: routes over the service, and errors as problem documents (RFC 9457). */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { type ErrorCode, JobqError } from '../errors.js';
import type { Job } from '../job/job.js';
import { JsonFault, RawJson, slices, stringify } from '../json.js';
import type { NewJob } from '../queue/enqueue.js';
import { didYouMean } from '../suggest.js';
import {
  ArrivalQuery,
  BODY_LIMIT_BYTES,
  EditBody,
  ENQUEUE_LIMIT,
  LIST_LIMIT,
  ListQuery,
  NewJobBody,
  type Problem,
  PruneBody,
  type Pruned,
  RetryBody,
  StatsQuery,
} from './contract.js';
import { BodyTooLarge, ForeignRequest, loopbackOnly } from './guard.js';
import type { Service } from './service.js';

export function createApp(service: Service): Hono {
  const app = new Hono();
  app.onError((error, context) => problem(context, error));
  app.notFound((context) =>
    problem(
      context,
      new JobqError('not-found', `there is nothing at ${context.req.method} ${context.req.path}`),
    ),
  );
  app.use(loopbackOnly);
  app.use(
    bodyLimit({
      maxSize: BODY_LIMIT_BYTES,
      onError: () => {
        throw new BodyTooLarge();
      },
    }),
  );

  app.get('/healthz', (context) => json(context, { ok: true }));
  app.get('/readyz', async (context) => {
    await service.ready();
    return json(context, { ok: true });
  });
  app.get('/info', (context) => json(context, service.info()));
  app.get('/stats', async (context) => {
    const { exact } = check(StatsQuery, context.req.query());
    return json(context, await service.stats({ exact: exact === 'true' }));
  });
  app.post('/drain', async (context) => json(context, await service.drain()));

  app.post('/prune', async (context) => {
    const { values } = readObject(await context.req.text());
    const { keep_ms: ageMs, keep_jobs: count, dry_run: dryRun = false } = check(PruneBody, values);
    if (ageMs === undefined && count === undefined) {
      throw new JobqError(
        'input',
        'nothing is said of what to keep',
        'Give keep_ms (milliseconds since a job finished), keep_jobs (how many), or both.',
      );
    }
    const pruned = await service.prune({ ageMs, count }, { dryRun });
    return json(context, { pruned, dry_run: dryRun } satisfies Pruned);
  });

  app.get('/jobs', async (context) => {
    const { limit = 100, ...filter } = check(ListQuery, context.req.query());
    const jobs = await service.list({ limit, ...filter });
    return json(context, jobs.map(withPayload));
  });
  app.get('/arrivals', async (context) => {
    const { kind: _kind, ...values } = context.req.query();
    const { limit = LIST_LIMIT, ...filter } = check(ArrivalQuery, values);
    const jobs = await service.arrivals({ ...filter, kinds: context.req.queries('kind'), limit });
    return json(
      context,
      jobs.map((job) => ({ ...job, payload: new RawJson(job.payload) })),
    );
  });
  app.post('/jobs', async (context) => {
    const ids = await service.enqueue(readNewJobs(await context.req.text()));
    return json(context, { ids }, 201);
  });
  app.post('/jobs/retry', async (context) => {
    const { values } = readObject((await context.req.text()) || '{}');
    const { kind } = check(RetryBody, values);
    return json(context, { retried: await service.retryAll(kind) });
  });
  app.get('/jobs/:id', async (context) =>
    json(context, withPayload(await service.show(context.req.param('id')))),
  );
  app.patch('/jobs/:id', async (context) => {
    const { values, payload } = readObject(await context.req.text());
    const body = check(EditBody, values);
    const job = await service.edit(context.req.param('id'), {
      payload,
      runAfter: body.run_after,
      maxAttempts: body.max_attempts,
    });
    return json(context, withPayload(job));
  });
  app.post('/jobs/:id/retry', async (context) =>
    json(context, withPayload(await service.retry(context.req.param('id')))),
  );
  app.post('/jobs/:id/cancel', async (context) =>
    json(context, withPayload(await service.cancel(context.req.param('id')))),
  );
  app.get('/jobs/:id/explain', async (context) =>
    json(context, await service.explain(context.req.param('id'))),
  );
  return app;
}

function json(context: Context, value: unknown, status: 200 | 201 = 200): Response {
  return context.body(stringify(value), status, { 'content-type': 'application/json' });
}

function withPayload<T extends Job>(job: T): object {
  return { ...job, payload: new RawJson(job.payload) };
}

/** A body that is one job, or an array of them. */
function readNewJobs(text: string): NewJob[] {
  const items = text.trimStart().startsWith('[') ? [...split(text).values()] : [text];
  const jobs: NewJob[] = [];
  for (const item of items) {
    const { values, payload } = readObject(item);
    const body = check(NewJobBody, values);
    const job: NewJob = {
      kind: body.kind,
      payload: payload ?? '{}',
      runAfter: body.run_after,
      maxAttempts: body.max_attempts,
    };
    if (jobs.length + (body.count ?? 1) > ENQUEUE_LIMIT) {
      throw new JobqError(
        'input',
        `one request may insert ${ENQUEUE_LIMIT} jobs at most`,
        'Send them in several requests; nothing was inserted.',
      );
    }
    for (let copy = 0; copy < (body.count ?? 1); copy += 1) jobs.push(job);
  }
  return jobs;
}

/** An object's values, with its payload apart as text. */
function readObject(text: string): {
  values: Record<string, unknown>;
  payload: string | undefined;
} {
  const parts = split(text);
  if (!text.trimStart().startsWith('{')) {
    throw new JobqError(
      'input',
      'the body is no JSON object',
      'Send an object, e.g. {"kind":"…"}.',
    );
  }
  const payload = parts.get('payload');
  parts.delete('payload');
  return {
    values: Object.fromEntries([...parts].map(([key, value]) => [key, JSON.parse(value)])),
    payload,
  };
}

function split(text: string): Map<string, string> {
  try {
    return slices(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new JobqError('input', `the body is no JSON object: ${error.message}`);
  }
}

function check<T extends z.ZodObject>(schema: T, values: unknown): z.output<T> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  // A misspelt key is the cause of the one that is missing.
  const { issues } = parsed.error;
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!;
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const near = didYouMean(key, Object.keys(schema.shape));
    throw new JobqError('input', `unknown field ${JSON.stringify(key)}${near}`);
  }
  const where = issue.path.join('.');
  throw new JobqError(
    'input',
    issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
      ? `${where} is missing`
      : `${where}: ${issue.message.replace(/^Invalid (input|option): /, '')}`,
  );
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

function statusOf(error: Error): (typeof STATUS)[ErrorCode] | 403 | 413 | 500 {
  if (error instanceof ForeignRequest) return 403;
  if (error instanceof BodyTooLarge) return 413;
  return error instanceof JobqError ? STATUS[error.code] : 500;
}

function problem(context: Context, error: Error): Response {
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
  });
}
