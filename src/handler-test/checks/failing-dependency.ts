/**
 * `failing-dependency` and `timeout`: when the far side fails, the handler says so (a non-zero exit
 * and a message), ends by itself, and the next attempt does the work after all.
 */
import { formatDuration } from '../../job/duration.js';
import { headline, visible } from '../../job/text.js';
import { type Delivery, deliver } from '../deliver.js';
import type { Failure } from '../far-side/far-side.js';
import { allEnded } from '../lanes.js';
import { differences } from '../outside/differences.js';
import type { Outside } from '../outside/outside.js';
import { type SentRequest, target } from '../outside/requests.js';
import type { Check, CheckContext, CheckOutcome, Finding } from './check.js';
import { real, recover } from './recovery.js';

/** How many different targets are made to fail. */
const TARGETS = 4;

const WORDS: Record<Failure, string> = {
  500: 'answers 500',
  429: 'answers 429',
  reset: 'resets the connection',
  slow: 'answers byte by byte, then breaks off',
  hold: 'does not answer',
};

export const failingDependency: Check = (context) =>
  disturb(context, ['500', '429', 'reset', 'slow']);

export const timeout: Check = (context) => disturb(context, ['hold']);

async function disturb(context: CheckContext, failures: Failure[]): Promise<CheckOutcome> {
  const { state, delivery } = context.baseline;
  if (delivery.status !== 'done') {
    return { findings: [], skipped: 'the job is not to succeed anyway' };
  }
  const firsts = firstOfEach(state.requests).slice(0, TARGETS);
  if (firsts.length === 0) return { findings: [], skipped: 'it sends no HTTP request' };
  const trials = firsts.flatMap((request) => failures.map((how) => ({ request, how })));
  const ends = await allEnded(
    trials.map(async ({ request, how }) => ({
      what: `${target(request)} ${WORDS[how]}`,
      ...(await disturbOne(context, request, how)),
    })),
  );
  return {
    findings: ends.flatMap(({ findings }) => findings),
    notes: ends.map(({ what, note }) => `${what}: ${note}`),
  };
}

/** The first request to each target that the handler may not go on without. */
function firstOfEach(requests: readonly SentRequest[]): SentRequest[] {
  const needed = requests.filter(({ optional }) => !optional);
  return needed.filter(
    (request, index) => needed.findIndex((other) => target(other) === target(request)) === index,
  );
}

async function disturbOne(
  context: CheckContext,
  request: SentRequest,
  how: Failure,
): Promise<{ findings: Finding[]; note: string }> {
  const { lab, testCase, farSide, baseline, patienceMs } = context;
  const when = `when ${target(request)} ${WORDS[how]}`;
  const outside = await lab.outside(baseline.outside.jobId);
  try {
    // Up to the attempt that sends it, everything is well.
    const { attempt } = request;
    if (attempt > 1) await deliver(lab, testCase, outside, { farSide, upTo: attempt - 1 });
    const delivery = await deliver(lab, testCase, outside, {
      farSide: { ...farSide, disturbance: { target: target(request), how } },
      from: attempt,
      upTo: attempt,
      timeoutMs: Math.min(patienceMs, lab.options.attempt.timeoutMs),
      idles: how === 'hold' || how === 'slow',
    });
    const own = await judgeEnd(context, delivery, how, when, outside);
    // What counts as a success is not delivered again.
    const findings =
      delivery.status === 'done'
        ? own
        : [...own, ...(await recover(context, outside, attempt, `${when}, and is well again`))];
    return { findings, note: noteOf(delivery) };
  } finally {
    await outside.remove();
  }
}

function noteOf({ status, last }: Delivery): string {
  return status === 'done' ? 'exit status 0' : visible(headline(last.error ?? ''));
}

async function judgeEnd(
  context: CheckContext,
  { last, status }: Delivery,
  how: Failure,
  when: string,
  outside: Outside,
): Promise<Finding[]> {
  if (last.outcome.kind === 'timeout') {
    const waited = formatDuration(last.outcome.afterMs);
    const limit = formatDuration(context.lab.options.attempt.timeoutMs);
    return [
      {
        fault: 'hangs',
        message: `${when}: it does not give up within ${waited}; in production it holds its slot until it is killed after ${limit}. Give the request a timeout (or raise --patience above yours)`,
      },
    ];
  }
  if (status === 'done') {
    // Whoever needs only the head of a slow answer may have all that it needs.
    if (how === 'slow') {
      const found = differences(context.baseline.state, await outside.state());
      outside.letGo();
      // Not the request itself: that it was cut is no lack of it.
      const lacking = found.filter(({ what }) => !what.startsWith('request'));
      if ((await real(context, lacking)).length === 0) return [];
    }
    return [{ fault: 'false-success', message: `${when}: it exits 0 as if all were well` }];
  }
  if (last.outcome.kind === 'signaled') {
    return [{ fault: 'signal', message: `${when}: ${visible(headline(last.error ?? ''))}` }];
  }
  if (last.stderr.text.trim() === '') {
    return [
      {
        fault: 'no-message',
        message: `${when}: it fails without a message; ${last.error} is all that a person would find`,
      },
    ];
  }
  return [];
}
