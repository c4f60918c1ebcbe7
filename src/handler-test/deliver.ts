/**
 * One delivery of a job: attempts as the queue makes them, until one succeeds or they are used up,
 * over an outside world that may hold what earlier deliveries did.
 */
import { type FSWatcher, watch } from 'node:fs';
import type { AttemptResult } from '../drain/attempt.js';
import type { Job } from '../job/job.js';
import type { SandboxProvider } from '../sandbox/port.js';
import { jobIdOf, type TestCase } from './cases.js';
import { type Decision, decide, type FarSide } from './far-side/far-side.js';
import type { Arrived, Reply } from './far-side/proxy.js';
import type { Lab } from './lab.js';
import type { Outside } from './outside/outside.js';

/** When to kill an attempt. */
export type KillMoment =
  /** When the far side has its nth request, from 1, before the answer. */
  | { at: 'request'; nth: number }
  /** When its nth transaction that writes rows is over, from 1; nothing later is run. */
  | { at: 'write'; nth: number }
  /** When this file of the output directory is first touched. */
  | { at: 'file'; name: string }
  /** So long after the handler was started. */
  | { at: 'time'; ms: number };

export interface DeliverOptions {
  farSide: FarSide;
  /** Number of the first attempt; default 1. */
  from?: number | undefined;
  /** Number of the last one; default: the job's `max_attempts`. */
  upTo?: number | undefined;
  timeoutMs?: number | undefined;
  idles?: boolean | undefined;
  /** Kills this attempt at this moment; there is none after it. */
  kill?: { attempt: number; moment: KillMoment } | undefined;
  provider?: SandboxProvider | undefined;
  /** Whether to note which files are touched, in `events`. */
  watchFiles?: boolean | undefined;
}

/** Something that an attempt did outside, in the order in which it was seen. */
export type OutsideEvent = { attempt: number } & (
  | { what: 'request'; nth: number }
  /** A transaction that wrote rows. */
  | { what: 'write'; nth: number }
  /** `how`: `rename` when it appears or goes, `change` when it is written to where it stands. */
  | { what: 'file'; name: string; how: string }
);

export interface Delivery {
  status: 'done' | 'dead' | 'killed';
  /** Number of the last attempt. */
  attempts: number;
  /** Of each attempt, in order. */
  results: AttemptResult[];
  last: AttemptResult;
  events: OutsideEvent[];
}

export async function deliver(
  lab: Lab,
  testCase: TestCase,
  outside: Outside,
  options: DeliverOptions,
): Promise<Delivery> {
  const upTo = options.upTo ?? testCase.maxAttempts;
  const results: AttemptResult[] = [];
  const events: OutsideEvent[] = [];
  for (let attempt = options.from ?? 1; ; attempt += 1) {
    const { result, killed } = await attemptOnce(lab, testCase, outside, attempt, options, events);
    results.push(result);
    if (killed || result.ok || attempt >= upTo) {
      const status = killed ? 'killed' : result.ok ? 'done' : 'dead';
      return { status, attempts: attempt, results, last: result, events };
    }
  }
}

async function attemptOnce(
  lab: Lab,
  testCase: TestCase,
  outside: Outside,
  attempt: number,
  options: DeliverOptions,
  events: OutsideEvent[],
): Promise<{ result: AttemptResult; killed: boolean }> {
  const { kill: plan, farSide, timeoutMs, idles, provider } = options;
  const moment = plan?.attempt === attempt ? plan.moment : undefined;
  let killed = false;
  let end: () => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  const killNow = () => {
    killed = true;
    end();
  };
  let nth = 0;
  const respond = async (arrived: Arrived): Promise<Reply> => {
    const decision = decide(arrived, farSide);
    outside.requests.push(sent(attempt, arrived, decision, outside));
    nth += 1;
    events.push({ what: 'request', attempt, nth });
    const dies = moment?.at === 'request' && moment.nth === nth;
    if (dies) killNow();
    if (dies || decision.reply === 'hold') return new Promise(() => {});
    return decision.reply;
  };
  let writes = 0;
  outside.database?.watch(() => {
    writes += 1;
    events.push({ what: 'write', attempt, nth: writes });
    if (moment?.at !== 'write' || moment.nth !== writes) return;
    outside.database?.hold();
    killNow();
  });
  const onFile = (how: string, name: string) => {
    events.push({ what: 'file', attempt, name, how });
    if (moment?.at === 'file' && moment.name === name) killNow();
  };
  const watcher =
    options.watchFiles || moment?.at === 'file' ? watchFiles(outside.outputDir, onFile) : undefined;
  try {
    const result = await lab.attempt({
      job: jobFor(testCase, attempt),
      outside,
      respond,
      timeoutMs,
      idles,
      provider,
      onStart: (kill) => {
        end = kill;
        if (moment?.at === 'time') timer = setTimeout(killNow, moment.ms);
      },
    });
    // What the kernel has noted of the files is read in the loop's next turns.
    if (watcher !== undefined) await twoTurns();
    // A kill that came when it had ended by itself killed nothing.
    return { result, killed: killed && result.outcome.kind === 'lost' };
  } finally {
    clearTimeout(timer);
    watcher?.close();
    await outside.database?.unwatch();
  }
}

function watchFiles(dir: string, onFile: (how: string, name: string) => void): FSWatcher {
  return watch(dir, (how, name) => {
    if (name !== null) onFile(how, name);
  });
}

async function twoTurns(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function sent(attempt: number, arrived: Arrived, decision: Decision, outside: Outside) {
  return {
    attempt,
    method: arrived.method,
    url: arrived.url,
    headers: arrived.headers,
    body: outside.neutral(arrived.body),
    answered: decision.answered,
    idempotent: decision.answer?.idempotent ?? false,
    optional: decision.answer?.optional ?? false,
  };
}

/** The row as the drainer would have claimed it for this attempt. */
function jobFor(testCase: TestCase, attempt: number): Job {
  const now = new Date();
  return {
    id: jobIdOf(testCase),
    kind: testCase.kind,
    payload: testCase.payload,
    status: 'running',
    // A job that was delivered too often has been made pending by hand, with its attempts at 0.
    attempts: Math.min(attempt, testCase.maxAttempts),
    max_attempts: testCase.maxAttempts,
    run_after: now,
    locked_at: now,
    last_error: null,
    created_at: now,
    claim_id: null,
    finished_at: null,
    parent_id: null,
  };
}
