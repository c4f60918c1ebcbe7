/**
 * The jobs that handlers are tried with. They come from fixtures and recorded bursts, and from
 * `handlers/<kind>.cases.jsonl`, whose lines need neither `at` nor `kind`.
 */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { JobqError } from '../errors.js';
import { visible } from '../job/text.js';
import { type Expectation, readFixture } from '../replay/fixture.js';

export interface TestCase {
  kind: string;
  /** Where it stands, as a person names it on the command line: `fixtures/first.jsonl:3`. */
  name: string;
  /** JSON text. Once `storeAll` has been at it, as Postgres prints it. */
  payload: string;
  maxAttempts: number;
  expect: Expectation | undefined;
  /** Whether it was written for its handler, in `handlers/<kind>.cases.jsonl`. */
  own: boolean;
}

/** A file of cases that was named on the command line, and perhaps one line of it. */
export interface NamedCases {
  file: string;
  line: number | undefined;
}

export const CASES_SUFFIX = '.cases.jsonl';
const DEFAULT_MAX_ATTEMPTS = 3;

/** Reads `burst.jsonl` or `burst.jsonl:12`; undefined when the word is no file of cases. */
export function namedCases(word: string): NamedCases | undefined {
  const found = /^(.*\.jsonl)(?::(\d+))?$/s.exec(word);
  if (found === null) return undefined;
  return { file: found[1]!, line: found[2] === undefined ? undefined : Number(found[2]) };
}

export interface FindOptions {
  /** Absolute. */
  handlersDir: string;
  /** Absolute; need not exist. Every `*.jsonl` below it is a fixture. */
  fixturesDir: string;
  /** In place of what would be found. */
  named: readonly NamedCases[];
  /** Names of cases are relative to it. Absolute. */
  cwd: string;
}

/**
 * Finds and reads every case; of jobs that are the same in all but their time, the first.
 * @throws JobqError `input` for a bad line, or a line that was named and is not there.
 */
export async function findCases(options: FindOptions): Promise<TestCase[]> {
  const files = options.named.length > 0 ? options.named : await discover(options);
  const cases = new Map<string, TestCase>();
  for (const { file, line } of files) {
    const found = await readCases(file, options);
    const wanted = line === undefined ? found : found.filter((each) => each.line === line);
    if (line !== undefined && wanted.length === 0) {
      throw new JobqError(
        'input',
        `there is no job in line ${line} of ${file}`,
        'Lines count from 1; without ":LINE" every job of the file is taken.',
      );
    }
    for (const { testCase } of wanted) {
      const { kind, payload, maxAttempts, expect } = testCase;
      const same = JSON.stringify([kind, payload, maxAttempts, expect]);
      if (!cases.has(same)) cases.set(same, testCase);
    }
  }
  return [...cases.values()];
}

async function discover({ handlersDir, fixturesDir }: FindOptions): Promise<NamedCases[]> {
  const own = await filesBelow(handlersDir, CASES_SUFFIX);
  const fixtures = (await filesBelow(fixturesDir, '.jsonl')).filter((file) => !own.includes(file));
  return [...own, ...fixtures].map((file) => ({ file, line: undefined }));
}

async function filesBelow(dir: string, suffix: string): Promise<string[]> {
  const found: string[] = [];
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const file = path.join(dir, entry.name);
    if (entry.isDirectory()) found.push(...(await filesBelow(file, suffix)));
    else if (entry.name.endsWith(suffix)) found.push(file);
  }
  return found.sort();
}

async function readCases(
  file: string,
  { handlersDir, cwd }: FindOptions,
): Promise<{ line: number; testCase: TestCase }[]> {
  const absolute = path.resolve(cwd, file);
  const own = ownKind(absolute, handlersDir);
  const shown = path.relative(cwd, absolute);
  const found = [];
  for await (const job of readFixture(absolute, own === undefined ? {} : { at: '0s', kind: own })) {
    if (own !== undefined && job.kind !== own) {
      throw new JobqError(
        'input',
        `${shown}:${job.line}: the kind is "${visible(job.kind)}" in a file of cases for "${own}"`,
        'Leave the kind out, or put the line into the file of its own kind.',
      );
    }
    const testCase: TestCase = {
      kind: job.kind,
      name: `${shown}:${job.line}`,
      payload: job.payload,
      maxAttempts: job.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
      expect: job.expect,
      own: own !== undefined,
    };
    found.push({ line: job.line, testCase });
  }
  return found;
}

/** The kind whose handler a file of cases stands beside. */
function ownKind(file: string, handlersDir: string): string | undefined {
  const relative = path.relative(handlersDir, file);
  if (relative.startsWith('..') || !relative.endsWith(CASES_SUFFIX)) return undefined;
  return relative.slice(0, -CASES_SUFFIX.length).split(path.sep).join('/');
}

/**
 * The cases that get every check: of each kind its own, and up to `count` others, spread over what
 * there is, those that expect something first.
 */
export function sample(cases: readonly TestCase[], count: number): Set<TestCase> {
  const chosen = new Set(cases.filter((each) => each.own));
  for (const kind of new Set(cases.map((each) => each.kind))) {
    const others = cases.filter((each) => each.kind === kind && !each.own);
    const ends = new Map<string, TestCase[]>();
    for (const each of others) {
      const end = JSON.stringify(each.expect ?? null);
      ends.set(end, [...(ends.get(end) ?? []), each]);
    }
    // One of each expected end in turn, and of those with the same end, far apart ones.
    const groups = [...ends.values()].map((group) => spread(group, count));
    // No more turns than there are cases: `count` may be as good as endless.
    for (let turn = 0; turn < Math.min(count, others.length); turn += 1) {
      for (const group of groups) {
        const taken = [...chosen].filter((each) => each.kind === kind && !each.own).length;
        if (taken < count && group[turn] !== undefined) chosen.add(group[turn]!);
      }
    }
  }
  return chosen;
}

/** Up to `count` of `items`, at even distances. */
function spread<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  return Array.from(
    { length: count },
    (_, index) => items[Math.floor((index * items.length) / count)]!,
  );
}

/**
 * The id of a case's job: the same in each run of the tests, and so unusual that a file which holds
 * it comes from this job.
 */
export function jobIdOf({ name, kind }: TestCase): string {
  const hash = createHash('sha256').update(`${kind}\0${name}`).digest();
  return String(700_000_000_000 + (hash.readUIntBE(0, 6) % 99_999_999_999));
}
