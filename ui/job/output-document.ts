import type { Attempt } from '../../src/job/job.js';
import type { JobView } from '../store/state.js';
import { timeOfDay } from '../text/figures.js';
import { type Block, bold, dim, type Piece, text, widthOf } from '../text/pieces.js';
import { plainOutput } from '../text/plain.js';
import { wrap } from '../text/wrap.js';
import { ending, endingTone } from './ending.js';

/** What every attempt wrote, oldest first, so that the end is where it goes on. */
export function outputDocument({ job }: JobView, width: number): Block {
  const attempts = job!.attempts_log ?? [];
  if (attempts.length === 0) {
    return [[], [text('  It has not run yet: nothing is written.')]];
  }
  return attempts.flatMap((attempt) => [
    heading(attempt, width),
    ...stream(attempt, 'stdout', width),
    ...stream(attempt, 'stderr', width),
    ...silence(attempt),
    [],
  ]);
}

function heading(attempt: Attempt, width: number): Piece[] {
  const left = [
    bold(` attempt ${attempt.attempt} `),
    dim(`${timeOfDay(attempt.started_at.getTime())}  `),
    text(`${ending(attempt)} `, endingTone(attempt)),
  ];
  return [...left, dim('─'.repeat(Math.max(0, width - widthOf(left))))];
}

function stream(attempt: Attempt, name: 'stdout' | 'stderr', width: number): Piece[][] {
  const written = attempt[name] ?? '';
  if (written === '') return [];
  const before = (attempt[`${name}_bytes`] ?? 0) - Buffer.byteLength(written);
  const mark = name === 'stderr' ? text(' ! ', 'warn') : text('   ');
  const lines = written.replace(/\r?\n$/, '').split('\n');
  return [
    ...(before > 0 ? [[dim(`   … ${before} bytes before this are not kept`)]] : []),
    ...lines.flatMap((line) =>
      wrap(plainOutput(line), width - 3).map((piece) => [mark, text(piece)]),
    ),
  ];
}

function silence({ outcome, stdout, stderr }: Attempt): Piece[][] {
  if (stdout || stderr) return [];
  return [[dim(outcome === null ? '   nothing yet' : '   it wrote nothing')]];
}
