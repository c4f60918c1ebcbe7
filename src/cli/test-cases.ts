/** What `jobq-dev test` runs, and what stands beside the handlers for it. */
import path from 'node:path';
import type { Config } from '../config.js';
import { knownKinds } from '../drain/handler.js';
import { JobqError } from '../errors.js';
import { CASES_SUFFIX, findCases, type TestCase } from '../handler-test/cases.js';
import { readAnswers } from '../handler-test/far-side/answers.js';
import type { FarSide } from '../handler-test/far-side/far-side.js';
import { readSnapshot, type Snapshot } from '../handler-test/snapshot.js';
import { visible } from '../job/text.js';
import { didYouMean } from '../suggest.js';
import type { TestPlan } from './test-plan.js';

/** Where bursts are, when none is named. */
export function fixturesDir(config: Config): string {
  return path.join(
    config.file === undefined ? process.cwd() : path.dirname(config.file),
    'fixtures',
  );
}

export async function casesOf(plan: TestPlan, config: Config): Promise<TestCase[]> {
  const all = await findCases({
    handlersDir: config.handlers,
    fixturesDir: fixturesDir(config),
    named: plan.named,
    cwd: process.cwd(),
  });
  const wanted =
    plan.kinds.length === 0 ? all : all.filter(({ kind }) => plan.kinds.includes(kind));
  const known = [...(await knownKinds(config.handlers)), ...all.map(({ kind }) => kind)];
  const unknown = plan.kinds.find((kind) => !known.includes(kind));
  if (unknown !== undefined) {
    throw new JobqError(
      'usage',
      `there is no handler and no case of kind ${JSON.stringify(visible(unknown))}${didYouMean(unknown, known)}`,
      `Handlers are looked for in ${config.handlers}; a file of cases is named *.jsonl.`,
    );
  }
  if (wanted.length > 0) return wanted;
  const without = plan.kinds.length > 0 ? plan.kinds : await knownKinds(config.handlers);
  const where = without.length === 0 ? '' : ` for ${without.map(visible).join(', ')}`;
  const file = path.join(config.handlers, `${visible(without[0] ?? '<kind>')}${CASES_SUFFIX}`);
  throw new JobqError(
    'input',
    `there is no case${where}: nothing can be tested`,
    `Put a line {"payload":{…}} into ${path.relative(process.cwd(), file)}, or name a fixture: jobq-dev test burst.jsonl`,
  );
}

/** The cases with their payloads as Postgres hands them to a handler. */
export async function storeAll(
  cases: readonly TestCase[],
  store: (payloads: readonly string[]) => Promise<(string | undefined)[]>,
): Promise<TestCase[]> {
  const stored = await store(cases.map(({ payload }) => payload));
  return cases.map((testCase, index) => {
    const payload = stored[index];
    if (payload !== undefined) return { ...testCase, payload };
    throw new JobqError(
      'input',
      `${testCase.name}: Postgres cannot store this payload as jsonb`,
      'Change it, or take the line out: no such job can be in the table.',
    );
  });
}

export async function farSidesOf(
  cases: readonly TestCase[],
  config: Config,
  allowNetwork: boolean,
) {
  const farSides = new Map<string, FarSide>();
  for (const kind of new Set(cases.map((each) => each.kind))) {
    farSides.set(kind, { answers: await readAnswers(config.handlers, kind), allowNetwork });
  }
  return farSides;
}

export async function snapshotsOf(cases: readonly TestCase[], config: Config) {
  const snapshots = new Map<string, Snapshot | undefined>();
  for (const kind of new Set(cases.map((each) => each.kind))) {
    snapshots.set(kind, await readSnapshot(config.handlers, kind));
  }
  return snapshots;
}

/** Only told when everything was to be tested. */
export async function kindsWithoutCase(cases: readonly TestCase[], plan: TestPlan, config: Config) {
  if (plan.named.length > 0 || plan.kinds.length > 0) return [];
  const kinds = await knownKinds(config.handlers);
  return kinds.filter((kind) => !cases.some((each) => each.kind === kind));
}
