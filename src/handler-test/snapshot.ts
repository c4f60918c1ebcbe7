/**
 * `handlers/<kind>.snapshot.json`: what a handler did with each case when that was accepted. One
 * line of what it did is one line of the file, so that a change reads well in a review.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { JobqError, systemReason } from '../errors.js';
import type { TestCase } from './cases.js';
import type { Baseline, CheckOutcome } from './checks/check.js';
import { textDiff } from './outside/differences.js';
import { idempotencyKey } from './outside/requests.js';

const SNAPSHOT = z.record(
  z.string(),
  z.strictObject({ case: z.string(), does: z.array(z.string()) }),
);

/** By the id of the case. */
export type Snapshot = z.output<typeof SNAPSHOT>;

const MASKED = '‹masked›';

/** The same for the same payload, wherever its line stands. */
export function caseId({ payload, maxAttempts }: TestCase): string {
  return createHash('sha256').update(`${maxAttempts}\0${payload}`).digest('hex').slice(0, 12);
}

export function snapshotFile(handlersDir: string, kind: string): string {
  return path.join(handlersDir, `${kind}.snapshot.json`);
}

/**
 * @returns undefined when the kind has none.
 * @throws JobqError `input`
 */
export async function readSnapshot(
  handlersDir: string,
  kind: string,
): Promise<Snapshot | undefined> {
  const file = snapshotFile(handlersDir, kind);
  try {
    return SNAPSHOT.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const reason = code === undefined ? 'it is no snapshot' : systemReason(error);
    throw new JobqError(
      'input',
      `cannot read ${file}: ${reason}`,
      'jobq-dev test --update writes it anew; look at the difference before you keep it.',
    );
  }
}

/** The text of a kind's snapshot with what was seen in it; other cases stay as they were. */
export function snapshotText(before: Snapshot | undefined, seen: Snapshot): string {
  const all = Object.entries({ ...before, ...seen }).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`;
}

/** What a baseline did, line by line, with volatile parts masked. */
export function describeBaseline(
  { delivery, outside, state }: Baseline,
  { masks, handlersDir }: { masks: readonly RegExp[]; handlersDir: string },
): string[] {
  const { status, attempts, last } = delivery;
  const lines = [`${status} after ${attempts} attempt${attempts === 1 ? '' : 's'}`];
  const add = (title: string, text: string) => {
    lines.push(title);
    if (text === '') return;
    // Stack traces name it, and it is another on each machine.
    const neutral = text.replaceAll(handlersDir, '/handlers').replace(/\n$/, '');
    lines.push(...neutral.split('\n').map((line) => `  ${line}`));
  };
  add('stdout', outside.neutral(last.stdout.text));
  if (last.error !== null) add('error', outside.neutral(last.error));
  for (const request of state.requests) {
    const key = idempotencyKey(request);
    const keyed = key === undefined ? '' : ' with an idempotency key';
    add(`${request.method} ${request.url}${keyed}`, request.body);
  }
  for (const [name, text] of state.files) add(name, text);
  for (const [table, text] of state.rows) add(`rows in ${table}`, text);
  return lines.map((line) => masks.reduce((masked, mask) => masked.replace(mask, MASKED), line));
}

/** Compares what a baseline did with what was accepted. */
export function compareWithSnapshot(
  testCase: TestCase,
  does: readonly string[],
  snapshot: Snapshot,
): CheckOutcome {
  const accepted = snapshot[caseId(testCase)];
  if (accepted === undefined) {
    return { findings: [], skipped: 'the snapshot does not have this case; --update adds it' };
  }
  const [before, now] = [accepted.does, does].map((lines) => `${lines.join('\n')}\n`);
  if (before === now) return { findings: [] };
  return {
    findings: [
      {
        fault: 'differs-from-snapshot',
        message: 'it does something else than was accepted; --update accepts it',
        diff: textDiff('what it does', before!, now!),
      },
    ],
  };
}
