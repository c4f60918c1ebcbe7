import type { Outcome } from '../job/outcome.js';
import type { CapturedOutput, RunResult } from './port.js';

/** Of a command of which nothing ran. */
export function notRun(outcome: Outcome, stderr = ''): RunResult {
  return { outcome, stdout: only(''), stderr: only(stderr), durationMs: 0, memoryExceeded: false };
}

function only(text: string): CapturedOutput {
  return { text, totalBytes: Buffer.byteLength(text), truncated: false };
}
