/**
 * Fixtures: JSON Lines, one job a line, in arrival order (docs/fixtures.md). Files are read as
 * streams, twice: once to refuse a bad line before anything is inserted, once to play.
 */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { z } from 'zod';
import { JobqError, systemReason } from '../errors.js';
import { parseDuration } from '../job/duration.js';
import { STATUSES, type Status } from '../job/job.js';
import { head, storable, visible } from '../job/text.js';
import { checkJsonb, JsonFault, type Member, members } from '../json.js';
import { didYouMean } from '../suggest.js';

/** What a line says its job must come to. Texts need only be contained. */
export interface Expectation {
  status?: Status | undefined;
  attempts?: number | undefined;
  stdout?: string | undefined;
  error?: string | undefined;
}

/** One line of a fixture. */
export interface FixtureJob {
  /** Line number, from 1. */
  line: number;
  /** Offset from the burst's start, in milliseconds. */
  atMs: number;
  kind: string;
  /** JSON text, digit for digit. */
  payload: string;
  count: number;
  /** Offset from the burst's start, in milliseconds; default: `atMs`. */
  runAfterMs: number | undefined;
  maxAttempts: number | undefined;
  expect: Expectation | undefined;
}

const offset = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({
    code: 'custom',
    message: `${JSON.stringify(text)} is no duration such as "0s", "1.5s" or "2m"`,
  });
  return z.NEVER;
});

const LINE = z.strictObject({
  at: offset,
  kind: z
    .string()
    .min(1, 'may not be empty')
    .refine((kind) => storable(kind) === kind, 'Postgres cannot store a NUL or half a character'),
  payload: z.unknown(),
  count: z.int().min(1, 'must be 1 or more').optional(),
  run_after: offset.optional(),
  max_attempts: z.int().min(1, 'must be 1 or more').max(2_147_483_647).optional(),
  expect: z
    .strictObject({
      status: z.enum(STATUSES).optional(),
      attempts: z.int().min(0).optional(),
      stdout: z.string().optional(),
      error: z.string().optional(),
    })
    .optional(),
});

/** What a line may leave out, where the file's own name or purpose says it. */
export interface LineDefaults {
  at?: string;
  kind?: string;
}

/**
 * Reads a fixture. Blank lines are passed over.
 * @throws JobqError `input`, naming file, line, column and reason.
 */
export async function* readFixture(
  file: string,
  defaults: LineDefaults = {},
): AsyncGenerator<FixtureJob> {
  let number = 0;
  let lastAtMs = 0;
  try {
    for await (const bytes of linesOf(file)) {
      number += 1;
      const text = bytes.toString('utf8');
      const line = number === 1 ? text.replace(/^\ufeff/, '') : text;
      if (!isUtf8(bytes)) {
        const { column } = new JsonFault(line, line.indexOf('\ufffd'), '');
        throw refuse({ file, line: number, column }, 'no UTF-8 text', 'Save the file as UTF-8.');
      }
      if (line.trim() === '') continue;
      const job = parseLine(file, number, line, defaults);
      if (job.atMs < lastAtMs) {
        throw refuse(
          { file, line: number, column: columnOf(line, ['at']) },
          `at is ${job.atMs / 1000} s, before the line above it (${lastAtMs / 1000} s)`,
          'Lines stand in the order in which their jobs arrive; sort them by "at".',
        );
      }
      lastAtMs = job.atMs;
      yield job;
    }
  } catch (error) {
    if (error instanceof JobqError) throw error;
    throw new JobqError(
      'input',
      `cannot read the fixture ${file}: ${systemReason(error)}`,
      'Give the path of a JSON Lines file; jobq-dev init makes one to start from.',
      { cause: error },
    );
  }
}

/**
 * The lines of a file as bytes, split at newlines and nothing else: node's readline also splits at
 * U+2028 and U+2029, which JSON strings hold as they are.
 */
async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end)]);
      parts = [];
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
  }
  yield Buffer.concat(parts);
}

const NEWLINE = 0x0a;

/**
 * Reads the whole fixture without keeping it.
 * @returns how many jobs it holds, and how long it lasts.
 * @throws JobqError `input` for the first bad line.
 */
export async function checkFixture(file: string): Promise<{ jobs: number; lastsMs: number }> {
  let jobs = 0;
  let lastsMs = 0;
  for await (const job of readFixture(file)) {
    jobs += job.count;
    lastsMs = job.atMs;
  }
  if (jobs === 0) {
    throw new JobqError('input', `the fixture ${file} holds no job`, 'Put one job on each line.');
  }
  return { jobs, lastsMs };
}

function parseLine(file: string, line: number, text: string, defaults: LineDefaults): FixtureJob {
  if (!text.trimStart().startsWith('{')) {
    throw refuse(
      { file, line, column: text.search(/\S/) + 1 },
      'a line is an object, as {"at":"0s","kind":"…","payload":{}}',
    );
  }
  let parts: Map<string, Member>;
  try {
    parts = members(text);
    checkJsonb(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw refuse({ file, line, column: error.column }, error.reason);
  }
  const payload = parts.get('payload')?.text;
  const parsed = LINE.safeParse({
    ...defaults,
    ...Object.fromEntries(
      [...parts].map(([key, { text }]) => [key, key === 'payload' ? null : JSON.parse(text)]),
    ),
  });
  if (!parsed.success) {
    // A misspelt key is the cause of the one that is missing.
    const { issues } = parsed.error;
    const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!;
    const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : issue.path;
    throw refuse({ file, line, column: columnOf(text, path) }, explain(issue));
  }
  if (payload === undefined) throw refuse({ file, line, column: 1 }, 'payload is missing');
  const { at, kind, count, run_after, max_attempts, expect } = parsed.data;
  return {
    line,
    atMs: at,
    kind,
    payload,
    count: count ?? 1,
    runAfterMs: run_after,
    maxAttempts: max_attempts,
    expect,
  };
}

type Issue = z.core.$ZodIssue;

function explain(issue: Issue): string {
  const where = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const known =
      where === 'expect' ? ['status', 'attempts', 'stdout', 'error'] : Object.keys(LINE.shape);
    return `unknown key ${JSON.stringify(where === '' ? key : `${where}.${key}`)}${didYouMean(key, known)}`;
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return `${where} is missing`;
  }
  const message = issue.message.replace(/^Invalid (input|option): /, '');
  return `${where}: ${message}`;
}

/** Where the key at `path` stands in the line, from 1; where it is missing, what should hold it. */
function columnOf(text: string, path: readonly PropertyKey[]): number {
  let position = 0;
  let inside = 0;
  let value = text;
  for (const key of path) {
    const member = members(value).get(String(key));
    if (member === undefined) break;
    position = inside + member.keyPosition;
    inside += member.position;
    value = member.text;
  }
  return new JsonFault(text, position, '').column;
}

function refuse(
  at: { file: string; line: number; column: number },
  reason: string,
  hint = 'Nothing was inserted. A line is a job: {"at":"1.5s","kind":"resize","payload":{…}}.',
): JobqError {
  const shown = head(visible(reason), 500);
  return new JobqError('input', `${at.file}:${at.line}:${at.column}: ${shown}`, hint);
}
