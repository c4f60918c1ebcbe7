/**
 * `poison`: with bent payloads the handler may fail, but cleanly: with a message, by itself, and
 * never with exit status 0 and half of its work done.
 */
import { formatDuration } from '../../job/duration.js';
import { head, headline, plural, visible } from '../../job/text.js';
import { type Delivery, deliver } from '../deliver.js';
import { allEnded } from '../lanes.js';
import type { OutsideState } from '../outside/differences.js';
import { effects } from '../outside/requests.js';
import { type Bend, bends } from './bend.js';
import type { Check, CheckContext, Fault, Finding } from './check.js';
import { crashLine } from './crash.js';

/** Payloads that are tried for each case. */
const BENDS = 16;

export const poison: Check = async (context) => {
  const { testCase, baseline, seed } = context;
  if (baseline.delivery.status !== 'done') {
    return { findings: [], skipped: 'the job is not to succeed anyway' };
  }
  const bent = await stored(context, bends(testCase.payload, `${seed} ${testCase.name}`, BENDS));
  const ends = await allEnded(
    bent.map(async (bend) => ({ bend, ...(await tryOne(context, bend)) })),
  );
  return {
    findings: grouped(ends),
    notes: ends.map(({ bend, note }) => `${bend.name}: ${note}`),
  };
};

/** As they come out of the table; what cannot be in it, or is a case of its own, is left out. */
async function stored(context: CheckContext, bent: readonly Bend[]): Promise<Bend[]> {
  const payloads = await context.store(bent.map(({ payload }) => payload));
  return bent.flatMap(({ name }, index) => {
    const payload = payloads[index];
    return payload === undefined || context.knownPayloads.has(payload) ? [] : [{ name, payload }];
  });
}

async function tryOne(
  context: CheckContext,
  bend: Bend,
): Promise<{ note: string; fault?: Fault; message?: string }> {
  const { lab, testCase, farSide, baseline, patienceMs } = context;
  const outside = await lab.outside(baseline.outside.jobId);
  try {
    // The attempt that succeeds with the payload as it was.
    const attempt = baseline.delivery.attempts;
    const delivery = await deliver(lab, { ...testCase, payload: bend.payload }, outside, {
      farSide,
      from: attempt,
      upTo: attempt,
      timeoutMs: Math.min(patienceMs, lab.options.attempt.timeoutMs),
    });
    const note = noteOf(delivery);
    return { note, ...judge(delivery, baseline.state, await outside.state()) };
  } finally {
    await outside.remove();
  }
}

function noteOf({ last }: Delivery): string {
  if (last.ok) return `done ${visible(head(last.stdout.text.trim(), 80))}`.trim();
  return `fails: ${visible(headline(last.error ?? ''))}`;
}

function judge(
  { last }: Delivery,
  clean: OutsideState,
  now: OutsideState,
): { fault?: Fault; message?: string } {
  if (last.outcome.kind === 'timeout') {
    const waited = formatDuration(last.outcome.afterMs);
    return { fault: 'hangs', message: `it does not end within ${waited}` };
  }
  if (last.memoryExceeded || last.outcome.kind === 'signaled') {
    return { fault: 'signal', message: visible(headline(last.error ?? '')) };
  }
  const crash = crashLine(last.stderr.text);
  if (last.ok) {
    const half = halfDone(clean, now);
    if (half !== undefined) return { fault: 'false-success', message: half };
    return crash === undefined
      ? {}
      : { fault: 'false-success', message: `it exits 0 after ${visible(head(crash, 120))}` };
  }
  if (last.outcome.kind === 'exited' && last.stderr.text.trim() === '') {
    return {
      fault: 'no-message',
      message: `it fails without a message; ${last.error} is all that a person would find`,
    };
  }
  if (crash === undefined) return {};
  return { fault: 'crash', message: `it crashes: ${visible(head(crash, 160))}` };
}

/** Some of what one clean run does, and not all of it. Nothing at all may be meant. */
function halfDone(clean: OutsideState, now: OutsideState): string | undefined {
  const done = [...worksOf(now)];
  const missing = [...worksOf(clean)].filter((work) => !done.includes(work));
  const there = [...worksOf(clean)].filter((work) => done.includes(work));
  if (missing.length === 0 || there.length === 0) return undefined;
  return `it exits 0 with half its work done: ${there.join(', ')}, but not ${missing.join(', ')}. If that is right, make this payload a case of its own`;
}

function worksOf({ files, requests, rows }: OutsideState): Set<string> {
  const sent = effects(requests).map(({ target }) => target);
  const filled = [...rows].filter(([, text]) => text !== '').map(([table]) => `rows in ${table}`);
  return new Set([...files.keys(), ...sent, ...filled]);
}

/** The same end with several payloads is one fault. */
function grouped(ends: { bend: Bend; fault?: Fault; message?: string }[]): Finding[] {
  const groups = new Map<string, { bend: Bend; fault: Fault; message: string; more: number }>();
  for (const { bend, fault, message = '' } of ends) {
    if (fault === undefined) continue;
    const known = groups.get(`${fault} ${message}`);
    if (known === undefined) groups.set(`${fault} ${message}`, { bend, fault, message, more: 0 });
    else known.more += 1;
  }
  return [...groups.values()].map(({ bend, fault, message, more }) => ({
    fault,
    message: `when ${bend.name}${more === 0 ? '' : ` (and with ${plural(more, 'other payload')})`}: ${message}`,
    diff: `payload: ${head(bend.payload, 300)}`,
  }));
}
