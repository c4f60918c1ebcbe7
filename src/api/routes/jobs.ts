/** The jobs of the table. */
import type { Context } from 'hono';
import { JobqError } from '../../errors.js';
import type { Job } from '../../job/job.js';
import { RawJson } from '../../json.js';
import { json, stream, withPayload } from '../answer.js';
import {
  ArrivalQuery,
  EditBody,
  LIST_LIMIT,
  ListQuery,
  LogsQuery,
  NewJobBody,
  PruneBody,
  RetryBody,
} from '../contract.js';
import { readNewJobs } from '../input.js';
import { jobLine } from '../job-line.js';
import { route } from '../route.js';

const idOf = (context: Context) => context.req.param('id')!;

export const JOB_ROUTES = [
  route({
    method: 'get',
    path: '/jobs',
    summary: 'A page of jobs. The Link header says where the next one begins.',
    query: ListQuery,
    answers: 'JobPage',
    async handle({ context, service, query: { limit = 100, payload = true, ...filter } }) {
      const { jobs, next } = await service.list({ limit, withPayload: payload, ...filter });
      if (next !== undefined) {
        const query = new URLSearchParams({ ...context.req.query(), before: next });
        context.header('link', `</jobs?${query}>; rel="next"`);
      }
      return json(context, jobs.map(payload ? withPayload : withoutPayload));
    },
  }),
  route({
    method: 'get',
    path: '/arrivals',
    summary: 'Jobs in the order in which they came, for a recording.',
    query: ArrivalQuery,
    answers: 'Arrivals',
    async handle({ context, service, query: { kind, limit = LIST_LIMIT, ...filter } }) {
      const kinds = kind === undefined ? undefined : [kind].flat();
      const jobs = await service.arrivals({ ...filter, kinds, limit });
      return json(
        context,
        jobs.map((job) => ({ ...job, payload: new RawJson(job.payload) })),
      );
    },
  }),
  route({
    method: 'post',
    path: '/jobs',
    summary: 'Inserts a job, or an array of them: all or none.',
    body: NewJobBody,
    takesMany: true,
    answers: 'Enqueued',
    status: 201,
    async handle({ context, service }) {
      const ids = await service.enqueue(readNewJobs(await context.req.text()));
      return json(context, { ids }, 201);
    },
  }),
  route({
    method: 'post',
    path: '/jobs/retry',
    summary: 'Makes every dead job pending again, or every dead job of a kind.',
    body: RetryBody,
    bodyIsOptional: true,
    answers: 'Retried',
    handle: async ({ context, service, body }) =>
      json(context, { retried: await service.retryAll(body.kind) }),
  }),
  route({
    method: 'post',
    path: '/prune',
    summary: 'Deletes done jobs that are older, or more, than are to stay.',
    body: PruneBody,
    answers: 'Pruned',
    async handle({ context, service, body: { keep_ms, keep_jobs, dry_run = false } }) {
      if (keep_ms === undefined && keep_jobs === undefined) {
        throw new JobqError(
          'input',
          'nothing is said of what to keep',
          'Give keep_ms (milliseconds since a job finished), keep_jobs (how many), or both.',
        );
      }
      const keep = { ageMs: keep_ms, count: keep_jobs };
      return json(context, { pruned: await service.prune(keep, { dryRun: dry_run }), dry_run });
    },
  }),
  route({
    method: 'get',
    path: '/jobs/:id',
    summary: 'A job with every attempt, and what a running one has written so far.',
    answers: 'JobWithAttempts',
    handle: async ({ context, service }) =>
      json(context, withPayload(await service.show(idOf(context)))),
  }),
  route({
    method: 'patch',
    path: '/jobs/:id',
    summary: 'Changes a pending job. Of a job that is over an edited copy is made: the answer.',
    body: EditBody,
    answers: 'Job',
    async handle({ context, service, body, payload }) {
      const changes = { payload, runAfter: body.run_after, maxAttempts: body.max_attempts };
      return json(context, withPayload(await service.edit(idOf(context), changes)));
    },
  }),
  route({
    method: 'post',
    path: '/jobs/:id/retry',
    summary: 'Makes a dead job pending again, with all its attempts.',
    answers: 'Job',
    handle: async ({ context, service }) =>
      json(context, withPayload(await service.retry(idOf(context)))),
  }),
  route({
    method: 'post',
    path: '/jobs/:id/cancel',
    summary: 'Makes a pending or running job dead; what runs is killed.',
    answers: 'Job',
    handle: async ({ context, service }) =>
      json(context, withPayload(await service.cancel(idOf(context)))),
  }),
  route({
    method: 'get',
    path: '/jobs/:id/explain',
    summary: 'Why a job is not running, in words.',
    answers: 'Explanation',
    handle: async ({ context, service }) => json(context, await service.explain(idOf(context))),
  }),
  route({
    method: 'get',
    path: '/jobs/:id/lineage',
    summary: 'What a job was edited from, and every edited copy; oldest first.',
    answers: 'Lineage',
    async handle({ context, service }) {
      const family = await service.lineage(idOf(context));
      return json(
        context,
        family.map((job) => ({ ...jobLine(job), parent_id: job.parent_id })),
      );
    },
  }),
  route({
    method: 'get',
    path: '/jobs/:id/logs',
    summary: 'What the attempts wrote, as it was written: control characters too.',
    query: LogsQuery,
    answers: 'text/plain',
    handle: ({ context, service, query: { attempt, follow = false } }) =>
      stream(context, 'text/plain; charset=utf-8', (signal) =>
        service.logs(idOf(context), { attempt, follow, signal }),
      ),
  }),
];

function withoutPayload({ payload: _payload, ...job }: Job): object {
  return job;
}
