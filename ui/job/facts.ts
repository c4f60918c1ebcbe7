import { STATUS_TONES } from '../lines/job-columns.js';
import type { JobView, State } from '../store/state.js';
import { lasted, timeOfDay } from '../text/figures.js';
import { type AnyPiece, bold, dim, type Part, spread, text } from '../text/pieces.js';
import { plain } from '../text/plain.js';
import { wrapWords } from '../text/wrap.js';

/** What is known of a job in a few lines: its state, then why it is not running, in words. */
export function jobFacts(view: JobView, { columns, skewMs }: State): AnyPiece[][] {
  const { job, explanation } = view;
  if (job === undefined) return [[dim(' …')]];
  const part = (rank: number, ...pieces: AnyPiece[]): Part => ({ rank, pieces });
  const age = {
    width: 11,
    at: (now: number) => `${lasted(now + skewMs - job.created_at.getTime())} ago`,
  };
  const state = spread(
    [
      part(9, text(' '), bold(job.status, STATUS_TONES[job.status])),
      part(8, dim('attempt '), text(`${job.attempts} of ${job.max_attempts}`)),
      ...(job.parent_id === null ? [] : [part(6, dim('edited copy of '), text(job.parent_id))]),
      part(4, dim('run after '), text(timeOfDay(job.run_after.getTime()))),
      part(3, dim('created '), age),
    ],
    [],
    columns,
  );
  const why = (explanation?.reasons ?? []).flatMap((reason) =>
    wrapWords(plain(reason), columns - 2).map((line) => [text(` ${line}`)]),
  );
  return [state, ...why];
}
