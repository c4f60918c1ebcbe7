/** What a test run came to; the shape of `jobq-dev test --json`. */
import type { CheckName, Finding } from './checks/check.js';

export type Verdict = 'passed' | 'failed' | 'skipped';

/** One check of one case. */
export interface CheckResult {
  kind: string;
  /** `file:line` */
  case: string;
  check: CheckName;
  verdict: Verdict;
  /** Why it was skipped. */
  reason?: string;
  findings: Finding[];
  /** What was done, a line each. */
  notes: string[];
  duration_ms: number;
  /** The command that shows a failure again. */
  again?: string;
}

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

export interface TestReport {
  seed: string;
  /** Cases that ran. */
  cases: number;
  /** Of them, those that got every check. */
  checked: number;
  attempts: number;
  passed: number;
  failed: number;
  skipped: number;
  /** Whether it was stopped before its end. */
  interrupted: boolean;
  wall_ms: number;
  /** What the attempts took, one after the other. */
  attempt_ms: number;
  kinds: Record<string, { cases: number; checks: Partial<Record<CheckName, Tally>> }>;
  /** Kinds that have a handler and no case. */
  without_case: string[];
  /** What was left out of the whole run, and why. */
  notes: string[];
  results: CheckResult[];
}

export interface Measured {
  results: CheckResult[];
  interrupted: boolean;
  seed: string;
  cases: number;
  checked: number;
  attempts: number;
  attemptMs: number;
  wallMs: number;
  withoutCase: string[];
  notes: string[];
}

export function summarize(measured: Measured): TestReport {
  const { results, attemptMs, wallMs, withoutCase, ...same } = measured;
  const count = (verdict: Verdict) => results.filter((each) => each.verdict === verdict).length;
  return {
    ...same,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    wall_ms: Math.round(wallMs),
    attempt_ms: Math.round(attemptMs),
    kinds: byKind(results),
    without_case: withoutCase,
    results,
  };
}

function byKind(results: readonly CheckResult[]): TestReport['kinds'] {
  const kinds: TestReport['kinds'] = {};
  const cases = new Map<string, Set<string>>();
  for (const { kind, case: name, check, verdict } of results) {
    kinds[kind] ??= { cases: 0, checks: {} };
    kinds[kind].checks[check] ??= { passed: 0, failed: 0, skipped: 0 };
    kinds[kind].checks[check][verdict] += 1;
    cases.set(kind, (cases.get(kind) ?? new Set()).add(name));
    kinds[kind].cases = cases.get(kind)!.size;
  }
  return kinds;
}
