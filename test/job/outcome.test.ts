import { describe, expect, it } from 'vitest';
import { describeOutcome, type Outcome, succeeded } from '#src/job/outcome.js';

describe('an outcome', () => {
  it.each<[Outcome, boolean, string]>([
    [{ kind: 'exited', code: 0 }, true, 'exit status 0'],
    [{ kind: 'exited', code: 1 }, false, 'exit status 1'],
    [{ kind: 'exited', code: 255 }, false, 'exit status 255'],
    [{ kind: 'signaled', signal: 'SIGKILL' }, false, 'ended by SIGKILL'],
    [{ kind: 'signaled', signal: null }, false, 'ended by a signal'],
    [
      { kind: 'timeout', afterMs: 1_500 },
      false,
      'timed out after 1.5 s; everything it started was killed',
    ],
    [{ kind: 'lost', reason: 'the VM went away' }, false, 'sandbox lost: the VM went away'],
  ])('%j is success: %s, in words: %s', (outcome, ok, words) => {
    expect(succeeded(outcome)).toBe(ok);
    expect(describeOutcome(outcome)).toBe(words);
  });
});
