/** What `jobq-dev test` was asked for: its words and flags, read and checked. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { JobqError } from '../errors.js';
import { type NamedCases, namedCases, type TestCase } from '../handler-test/cases.js';
import { CHECKS, type CheckName } from '../handler-test/checks/check.js';
import { parseDuration } from '../job/duration.js';
import { didYouMean } from '../suggest.js';

export interface TestFlags {
  only?: string;
  skip?: string;
  sample?: string;
  jobs?: string;
  patience?: string;
  seed?: string;
  allowNetwork?: boolean;
  update?: boolean;
  junit?: string;
  tap?: boolean;
  json?: boolean;
  watch?: boolean;
}

export interface TestPlan {
  checks: CheckName[];
  /** Empty: all of them. */
  kinds: string[];
  /** Empty: what is found. */
  named: NamedCases[];
  /** Cases of a kind that get every check. */
  sample: number;
  /** Attempts at a time. */
  jobs: number;
  patienceMs: number;
  seed: string;
}

/** @throws JobqError `usage` */
export function testPlan(words: readonly string[], flags: TestFlags): TestPlan {
  refuseBoth(flags, 'tap', 'json');
  refuseBoth(flags, 'update', 'watch');
  const named = words.map(namedCases).filter((each) => each !== undefined);
  for (const { file } of named) {
    if (existsSync(file)) continue;
    throw new JobqError(
      'usage',
      `there is no file ${file}`,
      'Give the path of a JSON Lines file with one job on each line.',
    );
  }
  const only = checkNames('--only', flags.only) ?? CHECKS;
  const skip = checkNames('--skip', flags.skip) ?? [];
  return {
    checks: CHECKS.filter((check) => only.includes(check) && !skip.includes(check)),
    kinds: words.filter((word) => namedCases(word) === undefined),
    named,
    sample: flags.sample === 'all' ? Number.MAX_SAFE_INTEGER : whole('--sample', flags.sample, 3),
    jobs: whole('--jobs', flags.jobs, availableParallelism()),
    patienceMs: patience(flags.patience),
    seed: flags.seed ?? randomBytes(4).toString('hex'),
  };
}

function refuseBoth(flags: TestFlags, one: keyof TestFlags, other: keyof TestFlags): void {
  if (!flags[one] || !flags[other]) return;
  throw new JobqError(
    'usage',
    `--${one} and --${other} exclude each other`,
    'Leave one of them out.',
  );
}

function checkNames(flag: string, given: string | undefined): readonly CheckName[] | undefined {
  if (given === undefined) return undefined;
  return given.split(',').map((word) => {
    const name = word.trim();
    const known = CHECKS.find((check) => check === name);
    if (known !== undefined) return known;
    throw new JobqError(
      'usage',
      `${flag} names ${JSON.stringify(name)}, which is no check${didYouMean(name, CHECKS)}`,
      `Checks: ${CHECKS.join(', ')}.`,
    );
  });
}

function whole(flag: string, given: string | undefined, fallback: number): number {
  if (given === undefined) return fallback;
  if (/^\d{1,9}$/.test(given) && Number(given) >= 1) return Number(given);
  throw new JobqError(
    'usage',
    `${flag} is ${JSON.stringify(given)}: it must be a whole number from 1`,
    `For example ${flag} 4.`,
  );
}

function patience(given: string | undefined): number {
  const ms = parseDuration(given ?? '10s');
  if (ms !== undefined && ms > 0) return ms;
  throw new JobqError(
    'usage',
    `--patience is ${JSON.stringify(given)}, which is no duration above 0`,
    'For example --patience 30s: more than the longest timeout in your handlers.',
  );
}

/** Flags that change what a check does, as they were given. */
const REPEATED = ['config', 'handlers', 'sandbox', 'namespaces', 'timeout', 'patience'] as const;

/** The command that shows one check of one case again. */
export function againCommand(
  { name }: TestCase,
  check: CheckName,
  { seed }: TestPlan,
  flags: TestFlags & Record<string, unknown>,
): string {
  const words = ['jobq-dev', 'test', name, '--only', check];
  for (const flag of REPEATED) {
    if (flags[flag] !== undefined) words.push(`--${flag}`, String(flags[flag]));
  }
  if (flags.allowNetwork) words.push('--allow-network');
  if (check === 'poison') words.push('--seed', seed);
  return words.map(quoted).join(' ');
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./:,=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
