/** Decides what the far side does with each request of a handler under test. */
import { target } from '../outside/requests.js';
import { type Answer, answerFor, type CannedResponse, responseOf } from './answers.js';
import type { Arrived, Reply } from './proxy.js';

/** A way in which the far side can fail. */
export type Failure = '500' | '429' | 'reset' | 'slow' | 'hold';

/** Makes the requests of one target fail. */
export interface Disturbance {
  /** As `target` names it. */
  target: string;
  how: Failure;
}

export interface Decision {
  /** `hold`: the request gets no answer for as long as the attempt lives. */
  reply: Reply | 'hold';
  answered: 'listed' | 'refused' | 'failed' | 'held' | 'passed on';
  answer: Answer | undefined;
}

export interface FarSide {
  answers: readonly Answer[];
  /** Whether what no answer is listed for goes to where it was sent. */
  allowNetwork: boolean;
  disturbance?: Disturbance;
}

const FAILURES: Record<'500' | '429', CannedResponse> = {
  500: { status: 500, headers: { 'content-type': 'text/plain' }, body: 'internal server error' },
  429: {
    status: 429,
    headers: { 'content-type': 'text/plain', 'retry-after': '1' },
    body: 'too many requests',
  },
};

/** What an unlisted request is answered with; a handler's error text most often shows it. */
const REFUSED = 502;

export function decide(request: Arrived, farSide: FarSide): Decision {
  const answer = answerFor(farSide.answers, request);
  const { disturbance } = farSide;
  if (disturbance !== undefined && target(request) === disturbance.target) {
    return { answer, ...disturbed(disturbance.how, answer) };
  }
  if (answer !== undefined) {
    return { answer, reply: { how: 'answer', response: responseOf(answer) }, answered: 'listed' };
  }
  if (farSide.allowNetwork) return { answer, reply: { how: 'pass' }, answered: 'passed on' };
  const body = `jobq-dev test: no answer is listed for ${request.method} ${request.url}\n`;
  const response = { status: REFUSED, headers: { 'content-type': 'text/plain' }, body };
  return { answer, reply: { how: 'answer', response }, answered: 'refused' };
}

function disturbed(how: Failure, answer: Answer | undefined): Pick<Decision, 'reply' | 'answered'> {
  if (how === 'hold') return { reply: 'hold', answered: 'held' };
  if (how === 'reset') return { reply: { how: 'reset' }, answered: 'failed' };
  if (how === 'slow') {
    // What it would have answered, or something as good.
    const whole = answer ?? { status: 200, headers: {}, json: {} };
    const response = responseOf({ ...whole, idempotent: false, optional: false } as Answer);
    return { reply: { how: 'drip', response }, answered: 'failed' };
  }
  return { reply: { how: 'answer', response: FAILURES[how] }, answered: 'failed' };
}
