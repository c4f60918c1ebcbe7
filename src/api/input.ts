/** What a request says, read and checked. */
import type { z } from 'zod';
import { JobqError } from '../errors.js';
import { JsonFault, slices } from '../json.js';
import type { NewJob } from '../queue/enqueue.js';
import { didYouMean } from '../suggest.js';
import { ENQUEUE_LIMIT, NewJobBody } from './contract.js';

/** A body that is one job, or an array of them. */
export function readNewJobs(text: string): NewJob[] {
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
export function readObject(text: string): {
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

/** @throws JobqError `input`, naming the field and the rule. */
export function check<T extends z.ZodObject>(schema: T, values: unknown): z.output<T> {
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
