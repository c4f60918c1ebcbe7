/** Runs the chosen checks on each case, and gathers what they find. */
import { jobIdOf, type TestCase } from './cases.js';
import type { Check, CheckContext, CheckName, CheckOutcome } from './checks/check.js';
import { failingDependency, timeout } from './checks/failing-dependency.js';
import { killed } from './checks/killed.js';
import { deliverFirst, judge } from './checks/runs.js';
import { twice } from './checks/twice.js';
import type { FarSide } from './far-side/far-side.js';
import { Interrupted, type Lab } from './lab.js';
import { allEnded, Lanes } from './lanes.js';
import type { CheckResult } from './report.js';

/** Checks that start from a baseline, each on its own. */
const FURTHER: Partial<Record<CheckName, Check>> = {
  twice,
  killed,
  timeout,
  'failing-dependency': failingDependency,
};

export interface TestOptions {
  lab: Lab;
  cases: readonly TestCase[];
  /** Those that get more than `runs`. */
  checked: ReadonlySet<TestCase>;
  checks: readonly CheckName[];
  /** What the far side answers to a kind. */
  farSideOf: (kind: string) => FarSide;
  patienceMs: number;
  seed: string;
  /** The command that shows one check of one case again. */
  again: (testCase: TestCase, check: CheckName) => string;
  /** Told of each result as it comes. */
  onResult?: (result: CheckResult) => void;
}

/** @returns the results so far when it is interrupted, and whether it was. */
export async function testHandlers(
  options: TestOptions,
): Promise<{ results: CheckResult[]; interrupted: boolean }> {
  const results: CheckResult[] = [];
  let interrupted = false;
  const tell = (result: CheckResult) => {
    results.push(result);
    options.onResult?.(result);
  };
  // Cases under way: enough to keep every lane busy, few enough to keep the disk small.
  const open = new Lanes(2 * options.lab.options.jobs);
  await allEnded(
    options.cases.map((testCase) =>
      open.use(async () => {
        if (interrupted) return;
        try {
          await testOne(testCase, options, tell);
        } catch (error) {
          if (!(error instanceof Interrupted)) throw error;
          interrupted = true;
        }
      }),
    ),
  );
  return { results: inOrder(results, options), interrupted };
}

async function testOne(
  testCase: TestCase,
  options: TestOptions,
  tell: (result: CheckResult) => void,
): Promise<void> {
  const { lab, checks, patienceMs, seed } = options;
  const farSide = options.farSideOf(testCase.kind);
  const startedAt = performance.now();
  const baseline = await deliverFirst(lab, testCase, farSide, jobIdOf(testCase));
  const first = judge(testCase, baseline);
  const works = first.findings.length === 0;
  // The others stand on it: that it does not run is told, whether it was asked for or not.
  if (checks.includes('runs') || !works) {
    tell(resultOf(testCase, 'runs', first, performance.now() - startedAt, options));
  }
  const further = options.checked.has(testCase) ? checks.filter((check) => check in FURTHER) : [];
  const context: CheckContext = {
    lab,
    testCase,
    farSide,
    baseline,
    patienceMs,
    seed,
  };
  await allEnded(
    further.map(async (check) => {
      const since = performance.now();
      const outcome = works
        ? await FURTHER[check]!(context)
        : { findings: [], skipped: 'it does not run' };
      tell(resultOf(testCase, check, outcome, performance.now() - since, options));
    }),
  );
  await baseline.outside.remove();
}

function resultOf(
  testCase: TestCase,
  check: CheckName,
  { findings, skipped, notes }: CheckOutcome,
  durationMs: number,
  { again }: TestOptions,
): CheckResult {
  const verdict = findings.length > 0 ? 'failed' : skipped === undefined ? 'passed' : 'skipped';
  return {
    kind: testCase.kind,
    case: testCase.name,
    check,
    verdict,
    ...(skipped === undefined ? {} : { reason: skipped }),
    findings,
    notes: notes ?? [],
    duration_ms: Math.round(durationMs),
    ...(verdict === 'failed' ? { again: again(testCase, check) } : {}),
  };
}

/** By case, then by check, however the work was spread. */
function inOrder(results: readonly CheckResult[], { cases, checks }: TestOptions): CheckResult[] {
  const place = new Map(cases.map(({ name }, index) => [name, index]));
  return [...results].sort(
    (a, b) =>
      place.get(a.case)! - place.get(b.case)! || checks.indexOf(a.check) - checks.indexOf(b.check),
  );
}
