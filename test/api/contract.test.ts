/** Every answer has the shape that the contract says. */
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { Drained } from '#src/api/contract/control.js';
import {
  Arrival,
  Enqueued,
  Explanation,
  JobAnswer,
  JobWithAttempts,
  Pruned,
  Relative,
  Retried,
} from '#src/api/contract/jobs.js';
import { Info, Overview, StatsAnswer } from '#src/api/contract/overview.js';
import { Problem } from '#src/api/contract/problem.js';
import { exited } from '../support/fake-provider.js';
import { apiWorld } from './world.js';

const world = apiWorld();

/** Asks, and checks the answer: no field that the contract does not have, none that it lacks. */
async function ask<T extends z.ZodObject>(
  method: string,
  path: string,
  shape: T,
  body?: object,
): Promise<z.output<T>> {
  return shape.strict().parse(await answer(method, path, body)) as z.output<T>;
}

async function answer(method: string, path: string, body?: object): Promise<unknown> {
  const response = await world.app.request(`http://127.0.0.1${path}`, {
    method,
    headers: { host: '127.0.0.1' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
}

it('answers have the shapes of the contract', async () => {
  world.provider.answer = (run) => exited(run.label === 'job 1' ? 1 : 0, 'no');
  await ask('POST', '/jobs', Enqueued, { kind: 'work', count: 2, max_attempts: 1 });
  await ask('POST', '/drain', Drained);
  const dead = await ask('GET', '/jobs/1', JobWithAttempts);
  expect(dead.attempts_log).toHaveLength(1);
  await ask('PATCH', '/jobs/2', JobAnswer, { payload: 7 });
  const listed = (await answer('GET', '/jobs')) as object[];
  expect(listed).toHaveLength(3);
  for (const job of listed) JobAnswer.strict().required().parse(job);
  const family = (await answer('GET', '/jobs/2/lineage')) as object[];
  expect(family.map((job) => Relative.strict().parse(job).parent_id)).toEqual([null, '2']);
  await ask('GET', '/jobs/1/explain', Explanation);
  await ask('POST', '/jobs/retry', Retried);
  await ask('GET', '/stats', StatsAnswer);
  await ask('GET', '/info', Info);
  await ask('GET', '/jobs/77', Problem);
  for (const job of (await answer('GET', '/arrivals')) as object[]) Arrival.strict().parse(job);
  await ask('POST', '/prune', Pruned, { keep_jobs: 10, dry_run: true });

  world.provider.answer = () => undefined;
  await world.watch.history.sample();
  const drained = ask('POST', '/drain', Drained);
  await world.provider.started(4);
  const overview = await ask('GET', '/overview', Overview);
  expect(overview).toMatchObject({
    handler_kinds: ['work'],
    running: [{}, {}],
    history: [{}],
  });
  for (const run of world.provider.running) run.end(exited(0));
  await drained;
});
