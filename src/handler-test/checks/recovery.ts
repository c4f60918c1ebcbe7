/** Whether a job that was disturbed comes to the end of a clean run after all. */
import { headline, visible } from '../../job/text.js';
import { type Delivery, deliver } from '../deliver.js';
import { beyond, type Difference, differences } from '../outside/differences.js';
import type { Outside } from '../outside/outside.js';
import { asFinding, type CheckContext, type Finding } from './check.js';

/**
 * Delivers again after a disturbed attempt, with the far side well, and compares what is outside
 * then with what one clean run leaves.
 * @param after the number of the disturbed attempt.
 * @param when says what was done to the job, for people.
 */
export async function recover(
  context: CheckContext,
  outside: Outside,
  after: number,
  when: string,
): Promise<Finding[]> {
  const { lab, testCase, farSide, baseline } = context;
  const again = await deliver(lab, testCase, outside, {
    farSide,
    from: after + 1,
    // As many as a clean run may need, whatever the disturbed attempt had done already.
    upTo: after + testCase.maxAttempts,
  });
  const findings: Finding[] = [];
  if (again.status !== baseline.delivery.status) findings.push(stuck(again, when));
  const found = differences(baseline.state, await outside.state());
  outside.letGo();
  for (const difference of await real(context, found)) findings.push(asFinding(difference, when));
  return findings;
}

function stuck({ last }: Delivery, when: string): Finding {
  return {
    fault: 'does-not-recover',
    message: `${when}: no further attempt succeeds: ${visible(headline(last.error ?? ''))}`,
  };
}

/**
 * Leaves out what differs between two clean runs as well: random names, times. The second clean
 * run is made only when there is something to explain, and once a case. Whoever asks must have let
 * go of their database: this one may need it.
 */
export async function real(
  context: CheckContext,
  found: readonly Difference[],
): Promise<Difference[]> {
  if (found.length === 0) return [];
  const { lab, testCase, farSide, baseline } = context;
  let control = controls.get(baseline);
  if (control === undefined) {
    control = (async () => {
      const outside = await lab.outside(baseline.outside.jobId);
      try {
        await deliver(lab, testCase, outside, { farSide });
        return differences(baseline.state, await outside.state());
      } finally {
        await outside.remove();
      }
    })();
    controls.set(baseline, control);
  }
  return beyond(found, await control);
}

const controls = new WeakMap<object, Promise<Difference[]>>();
