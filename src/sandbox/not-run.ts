import type { Outcome } from '../job/outcome.js';
import type { StartFailure } from './handler-command.js';
import type { CapturedOutput, RunResult } from './port.js';

/** Of a command of which nothing ran. */
export function notRun(outcome: Outcome, stderr = ''): RunResult {
  return { outcome, stdout: only(''), stderr: only(stderr), durationMs: 0, memoryExceeded: false };
}

/** A command that cannot be started is the job's failure, told as a shell tells it. */
export function couldNotStart({ code, message }: StartFailure): RunResult {
  return notRun({ kind: 'exited', code }, `${message}\n`);
}

function only(text: string): CapturedOutput {
  return { text, totalBytes: Buffer.byteLength(text), truncated: false };
}
