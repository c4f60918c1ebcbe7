/** The jobs of the table. */
import type { Hono } from 'hono';
import type { Job } from '../../job/job.js';
import { json, stream, withPayload } from '../answer.js';
import { EditBody, ListQuery, LogsQuery, RetryBody } from '../contract.js';
import { check, readNewJobs, readObject } from '../input.js';
import { jobLine } from '../job-line.js';
import type { Service } from '../service.js';

export function jobRoutes(app: Hono, service: Service): void {
  app.get('/jobs', async (context) => {
    const { limit = 100, payload = true, ...filter } = check(ListQuery, context.req.query());
    const { jobs, next } = await service.list({ limit, withPayload: payload, ...filter });
    if (next !== undefined) {
      const query = new URLSearchParams({ ...context.req.query(), before: next });
      context.header('link', `</jobs?${query}>; rel="next"`);
    }
    return json(context, jobs.map(payload ? withPayload : withoutPayload));
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
  app.get('/jobs/:id/lineage', async (context) => {
    const family = await service.lineage(context.req.param('id'));
    return json(
      context,
      family.map((job) => ({ ...jobLine(job), parent_id: job.parent_id })),
    );
  });
  app.get('/jobs/:id/logs', (context) => {
    const { attempt, follow = false } = check(LogsQuery, context.req.query());
    return stream(context, 'text/plain; charset=utf-8', (signal) =>
      service.logs(context.req.param('id'), { attempt, follow, signal }),
    );
  });
}

function withoutPayload({ payload: _payload, ...job }: Job): object {
  return job;
}
