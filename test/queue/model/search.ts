/**
 * Looks for an input that fails, and says how to see it fail again.
 *
 * JOBQ_MODEL_SEED and JOBQ_MODEL_PATH repeat a failure; JOBQ_MODEL_RUNS sets how many sequences are
 * tried.
 */
import { relative } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { Fault } from './fault.js';

const { JOBQ_MODEL_SEED: seed, JOBQ_MODEL_PATH: path, JOBQ_MODEL_RUNS: runs } = process.env;

/** For a machine that is busy with something else; a search that is asked to be long has no limit. */
export const TIMEOUT_MS = runs === undefined ? 600_000 : 0;

/** Whether one failure is repeated; a search that found nothing says how much it has seen. */
export const REPLAYING = path !== undefined;

/** @throws an error that holds the shortest failing input, its cause and how to repeat it. */
export async function search<Input>(
  inputs: fc.Arbitrary<Input>,
  numRuns: number,
  holds: (input: Input) => Promise<void>,
): Promise<void> {
  // Without its leaning to small numbers: one drainer and short sequences are no better than others.
  const details = await fc.check(fc.asyncProperty(fc.noBias(inputs), holds), {
    numRuns: REPLAYING ? 1 : Number(runs ?? numRuns),
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(path !== undefined && { path }),
  });
  if (!details.failed) return;
  const { testPath = '', currentTestName = '' } = expect.getState();
  const error = details.errorInstance;
  throw new Error(
    [
      `Sequence ${details.numRuns} fails, shortened ${details.numShrinks} times.`,
      error instanceof Error ? error.message : String(error),
      'To see it again:',
      `JOBQ_MODEL_SEED=${details.seed} JOBQ_MODEL_PATH=${details.counterexamplePath} \\`,
      `  npx vitest run ${relative(process.cwd(), testPath)} -t '${currentTestName}'`,
    ].join('\n'),
    error instanceof Fault ? {} : { cause: error },
  );
}
