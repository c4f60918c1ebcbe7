/** Runs the chosen checks on each case, and gathers what they find. */
import type { SandboxProvider } from '../sandbox/port.js';
import { jobIdOf, type TestCase } from './cases.js';
import type { Baseline, Check, CheckContext, CheckName, CheckOutcome } from './checks/check.js';
import {
  besideHandlers,
  changedFiles,
  processesLeft,
  temporaryFiles,
  treeOf,
} from './checks/clean.js';
import { failingDependency, timeout } from './checks/failing-dependency.js';
import { killed } from './checks/killed.js';
import { poison } from './checks/poison.js';
import { deliverFirst, judge } from './checks/runs.js';
import { sameEverywhere } from './checks/same-everywhere.js';
import { twice } from './checks/twice.js';
import type { FarSide } from './far-side/far-side.js';
import { Interrupted, type Lab } from './lab.js';
import { allEnded, Lanes } from './lanes.js';
import type { CheckResult } from './report.js';
import { caseId, compareWithSnapshot, describeBaseline, type Snapshot } from './snapshot.js';

/** Checks that compare with a baseline, each on its own. */
const FURTHER: Partial<Record<CheckName, Check>> = {
  killed,
  timeout,
  'failing-dependency': failingDependency,
  poison,
  'same-everywhere': sameEverywhere,
};

/** How many times as long as undisturbed a handler may take before it counts as hanging. */
const SLOWNESS = 5;

export interface TestOptions {
  lab: Lab;
  cases: readonly TestCase[];
  /** Those that get more than `runs` and `clean`. */
  checked: ReadonlySet<TestCase>;
  checks: readonly CheckName[];
  /** Absolute. */
  handlersDir: string;
  /** What the far side answers to a kind. */
  farSideOf: (kind: string) => FarSide;
  patienceMs: number;
  seed: string;
  store: CheckContext['store'];
  /** What was accepted of a kind; kinds without one are not compared. */
  snapshotOf: (kind: string) => Snapshot | undefined;
  /** Parts of what a handler does that are another each time. */
  masks: readonly RegExp[];
  /** For `same-everywhere`; without one it is left out. */
  elsewhere: SandboxProvider | undefined;
  /** Variables that the developer's shell has and handlers do not get. */
  shellNames: readonly string[];
  /** The command that shows one check of one case again. */
  again: (testCase: TestCase, check: CheckName) => string;
  /** Told of each result as it comes. */
  onResult?: (result: CheckResult) => void;
}

/** A case whose first delivery is over. */
interface Begun {
  testCase: TestCase;
  baseline: Baseline;
  /** Whether it came to the end that is expected: only then there is more to find out. */
  works: boolean;
  startedAtMs: number;
}

export interface Tested {
  /** All, or those that there were when it was interrupted. */
  results: CheckResult[];
  interrupted: boolean;
  /** What each kind did with the cases that came to their expected end. */
  did: Map<string, Snapshot>;
}

export async function testHandlers(options: TestOptions): Promise<Tested> {
  const run = new TestRun(options);
  try {
    await run.all();
    return { results: run.inOrder(), interrupted: false, did: run.did };
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    return { results: run.inOrder(), interrupted: true, did: run.did };
  }
}

class TestRun {
  readonly did = new Map<string, Snapshot>();
  readonly #options: TestOptions;
  readonly #results: CheckResult[] = [];
  /** Cases under way: enough to keep every lane busy, few enough to be told of soon. */
  readonly #open: Lanes;

  constructor(options: TestOptions) {
    this.#options = options;
    this.#open = new Lanes(2 * options.lab.options.jobs);
  }

  async all(): Promise<void> {
    const { cases, checks, handlersDir } = this.#options;
    const before = await treeOf(handlersDir);
    const begun = await this.#each(cases, (testCase) => this.#begin(testCase));
    if (checks.includes('clean')) {
      const written = changedFiles(before, await treeOf(handlersDir)).length > 0;
      // Who wrote there is found out one by one, with nobody else at work.
      if (written) for (const each of begun) await this.#clean(each, true);
      else await this.#each(begun, (each) => this.#clean(each, false));
    }
    await this.#each(begun, (each) => this.#further(each));
  }

  /** By case, then by check, however the work was spread. */
  inOrder(): CheckResult[] {
    const { cases, checks } = this.#options;
    const place = new Map(cases.map(({ name }, index) => [name, index]));
    return [...this.#results].sort(
      (a, b) =>
        place.get(a.case)! - place.get(b.case)! ||
        checks.indexOf(a.check) - checks.indexOf(b.check),
    );
  }

  #each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
    return allEnded(items.map((item) => this.#open.use(() => work(item))));
  }

  async #begin(testCase: TestCase): Promise<Begun> {
    const { lab, checks, checked, farSideOf, shellNames } = this.#options;
    const startedAtMs = Date.now();
    const since = performance.now();
    const farSide = farSideOf(testCase.kind);
    const baseline = await deliverFirst(lab, testCase, farSide, jobIdOf(testCase));
    const outcome = judge(testCase, baseline, shellNames);
    const works = outcome.findings.length === 0;
    const begun = { testCase, baseline, works, startedAtMs };
    // The others stand on it: that it does not run is told, whether it was asked for or not.
    if (checks.includes('runs') || !works) this.#tell(testCase, 'runs', outcome, since);
    if (works) this.#remember(testCase, baseline);
    if (checks.includes('twice') && checked.has(testCase)) await this.#run(begun, 'twice', twice);
    baseline.outside.letGo();
    return begun;
  }

  #remember(testCase: TestCase, baseline: Baseline): void {
    const { checks, masks, handlersDir, snapshotOf } = this.#options;
    const does = describeBaseline(baseline, { masks, handlersDir });
    const known = this.did.get(testCase.kind) ?? {};
    this.did.set(testCase.kind, { ...known, [caseId(testCase)]: { case: testCase.name, does } });
    const snapshot = snapshotOf(testCase.kind);
    if (!checks.includes('snapshot') || snapshot === undefined) return;
    const outcome = compareWithSnapshot(testCase, does, snapshot);
    this.#tell(testCase, 'snapshot', outcome, performance.now());
  }

  async #clean({ testCase, baseline, startedAtMs }: Begun, runAgain: boolean): Promise<void> {
    const { lab, farSideOf, handlersDir } = this.#options;
    const since = performance.now();
    const findings = processesLeft(baseline);
    findings.push(...(await temporaryFiles(testCase, startedAtMs)));
    if (runAgain) {
      const before = await treeOf(handlersDir);
      const farSide = farSideOf(testCase.kind);
      const again = await deliverFirst(lab, testCase, farSide, jobIdOf(testCase));
      await again.outside.remove();
      const written = changedFiles(before, await treeOf(handlersDir));
      findings.push(...written.map(besideHandlers));
    }
    this.#tell(testCase, 'clean', { findings }, since);
  }

  async #further(begun: Begun): Promise<void> {
    const { checks, checked, elsewhere } = this.#options;
    const chosen = checks.filter((check) => check !== 'same-everywhere' || elsewhere !== undefined);
    if (checked.has(begun.testCase)) {
      await allEnded(
        chosen.flatMap((name) => {
          const check = FURTHER[name];
          return check === undefined ? [] : [this.#run(begun, name, check)];
        }),
      );
    }
    await begun.baseline.outside.remove();
  }

  async #run({ testCase, baseline, works }: Begun, name: CheckName, check: Check): Promise<void> {
    const { lab, cases, elsewhere, farSideOf, patienceMs, seed, store } = this.#options;
    const since = performance.now();
    const same = cases.filter(({ kind }) => kind === testCase.kind);
    const context: CheckContext = {
      lab,
      testCase,
      farSide: farSideOf(testCase.kind),
      baseline,
      // One that takes long by itself, or on a busy machine, gets more.
      patienceMs: Math.max(patienceMs, SLOWNESS * baseline.delivery.last.durationMs),
      seed,
      store,
      knownPayloads: new Set(same.map(({ payload }) => payload)),
      elsewhere,
    };
    const outcome = works ? await check(context) : { findings: [], skipped: 'it does not run' };
    this.#tell(testCase, name, outcome, since);
  }

  #tell(testCase: TestCase, check: CheckName, outcome: CheckOutcome, since: number): void {
    const { findings, skipped, notes } = outcome;
    const verdict = findings.length > 0 ? 'failed' : skipped === undefined ? 'passed' : 'skipped';
    const result: CheckResult = {
      kind: testCase.kind,
      case: testCase.name,
      check,
      verdict,
      ...(skipped === undefined ? {} : { reason: skipped }),
      findings,
      notes: notes ?? [],
      duration_ms: Math.round(performance.now() - since),
      ...(verdict === 'failed' ? { again: this.#options.again(testCase, check) } : {}),
    };
    this.#results.push(result);
    this.#options.onResult?.(result);
  }
}
