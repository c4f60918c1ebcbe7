/**
 * `twice`: delivered a second time, in a fresh sandbox over the same outside world, the job leaves
 * that world as it was after the first.
 */
import { headline, visible } from '../../job/text.js';
import { deliver } from '../deliver.js';
import { differences } from '../outside/differences.js';
import { asFinding, type Check, type Finding } from './check.js';

/** Goes on in the baseline's own outside world, so it comes right after it. */
export const twice: Check = async ({ lab, testCase, farSide, baseline }) => {
  const { delivery, outside, state } = baseline;
  // A job that is done comes again when its lease ran out meanwhile; a dead one, by hand.
  const from = delivery.status === 'done' ? delivery.attempts + 1 : 1;
  const second = await deliver(lab, testCase, outside, {
    farSide,
    from,
    upTo: from + testCase.maxAttempts - 1,
  });
  const findings: Finding[] = [];
  if (second.status !== delivery.status) {
    const error = visible(headline(second.last.error ?? ''));
    findings.push({
      fault: 'second-delivery-fails',
      message: `the first delivery ends ${delivery.status}, the second ${second.status}: ${error}`,
    });
  }
  for (const difference of differences(state, await outside.state())) {
    findings.push(asFinding(difference, 'after the second delivery'));
  }
  return { findings };
};
