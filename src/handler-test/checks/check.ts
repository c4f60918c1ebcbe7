/** What a check is given, and what it finds. */

import type { SandboxProvider } from '../../sandbox/port.js';
import type { TestCase } from '../cases.js';
import type { Delivery } from '../deliver.js';
import type { FarSide } from '../far-side/far-side.js';
import type { Lab } from '../lab.js';
import type { Difference, OutsideState } from '../outside/differences.js';
import type { Outside } from '../outside/outside.js';

/** In the order in which reports show them. */
export const CHECKS = [
  'runs',
  'twice',
  'killed',
  'timeout',
  'failing-dependency',
  'poison',
  'clean',
  'same-everywhere',
  'snapshot',
] as const;

export type CheckName = (typeof CHECKS)[number];

/** What is wrong with a handler, for programs. `message` says it to people. */
export type Fault =
  | Difference['what']
  /** It did not come to the end that its case expects. */
  | 'other-end'
  /** There is no handler for it, or no sandbox. */
  | 'not-started'
  /** It printed, or failed with, another text than its case expects. */
  | 'other-text'
  /** It asked for something that no answer is listed for. */
  | 'unlisted-request'
  /** The second delivery failed, though the first had succeeded. */
  | 'second-delivery-fails'
  /** After a kill or a failure of the far side, no further attempt succeeds. */
  | 'does-not-recover'
  /** It does not end by itself. */
  | 'hangs'
  /** It exits 0 without having done its work. */
  | 'false-success'
  /** It fails without a word. */
  | 'no-message'
  /** It fails with a stack trace of a programming error. */
  | 'crash'
  /** It was ended by a signal, or for its memory. */
  | 'signal'
  /** It leaves a process running. */
  | 'process-left'
  /** It leaves files outside of its directories. */
  | 'file-outside'
  /** Another provider gives another result. */
  | 'differs-elsewhere'
  /** It does something else than the snapshot says. */
  | 'differs-from-snapshot';

export interface Finding {
  fault: Fault;
  /** One line: what is wrong, with the values. */
  message: string;
  /** What differed, as a unified diff. */
  diff?: string | undefined;
}

export interface CheckOutcome {
  findings: Finding[];
  /** Why it did not run at all. */
  skipped?: string;
  /** What it did, a line each; for whoever wants to know more. */
  notes?: string[];
}

/** The first, undisturbed delivery of a case; what the others are compared with. */
export interface Baseline {
  delivery: Delivery;
  outside: Outside;
  /** The bytes of the files that were seen to be touched and are there in the end. */
  touched: ReadonlyMap<string, Buffer>;
  /** Right after it. */
  state: OutsideState;
}

export interface CheckContext {
  lab: Lab;
  testCase: TestCase;
  farSide: FarSide;
  baseline: Baseline;
  /** How long a handler may take to give up. */
  patienceMs: number;
  seed: string;
  /** Payloads as they come out of the table; undefined where it does not take one. */
  store: (payloads: readonly string[]) => Promise<(string | undefined)[]>;
  /** Payloads that are cases of this kind. */
  knownPayloads: ReadonlySet<string>;
  /** A provider that runs handlers in another way. */
  elsewhere: SandboxProvider | undefined;
}

export type Check = (context: CheckContext) => Promise<CheckOutcome>;

/** A difference of the outside world as a finding. */
export function asFinding({ what, message, diff }: Difference, when: string): Finding {
  return { fault: what, message: `${when}: ${message}`, diff };
}
