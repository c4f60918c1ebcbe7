/** `same-everywhere`: another provider gives the same outcome. */
import { describeOutcome } from '../../job/outcome.js';
import { headline, plural, visible } from '../../job/text.js';
import { deliver } from '../deliver.js';
import { differences, textDiff } from '../outside/differences.js';
import type { Check, Finding } from './check.js';
import { real } from './recovery.js';

export const sameEverywhere: Check = async (context) => {
  const { lab, testCase, farSide, baseline, elsewhere } = context;
  if (elsewhere === undefined) return { findings: [], skipped: 'there is no other provider here' };
  if (elsewhere.enforces.isolation === 'microvm' && baseline.state.requests.length > 0) {
    return { findings: [], skipped: 'requests from inside a microVM are not caught' };
  }
  const outside = await lab.outside(baseline.outside.jobId);
  try {
    const there = await deliver(lab, testCase, outside, { farSide, provider: elsewhere });
    const where = `in ${elsewhere.description}`;
    const findings: Finding[] = [];
    const here = baseline.delivery;
    const add = (message: string, diff?: string) =>
      findings.push({ fault: 'differs-elsewhere', message: `${where}: ${message}`, diff });
    if (there.status !== here.status || there.attempts !== here.attempts) {
      const error = there.last.error === null ? '' : `: ${visible(headline(there.last.error))}`;
      add(
        `${there.status} after ${plural(there.attempts, 'attempt')}, here ${here.status} after ${here.attempts}${error}`,
      );
    } else if (describeOutcome(there.last.outcome) !== describeOutcome(here.last.outcome)) {
      add(`${describeOutcome(there.last.outcome)}, here ${describeOutcome(here.last.outcome)}`);
    }
    const printed = [here.last.stdout.text, there.last.stdout.text].map((text, index) =>
      [baseline.outside, outside][index]!.neutral(text),
    );
    if (printed[0] !== printed[1]) {
      add('stdout differs', textDiff('stdout', printed[0]!, printed[1]!));
    }
    const found = differences(baseline.state, await outside.state());
    outside.letGo();
    for (const { message, diff } of await real(context, found)) add(message, diff);
    return { findings };
  } finally {
    await outside.remove();
  }
};
