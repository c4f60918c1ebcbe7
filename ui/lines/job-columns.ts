import type { JobAnswer } from '../../src/api/contract.js';
import { headline } from '../../src/job/text.js';
import type { ListTab, State } from '../store/state.js';
import { countdown, lasted } from '../text/figures.js';
import { type AnyPiece, dim, type TimedPiece, type Tone, text } from '../text/pieces.js';
import { plain } from '../text/plain.js';
import type { Column } from '../text/table.js';
import { nth } from './slot-columns.js';

export const STATUS_TONES: Record<JobAnswer['status'], Tone> = {
  pending: 'plain',
  running: 'info',
  done: 'ok',
  dead: 'bad',
};

/** The columns of a list of jobs. */
export function jobColumns(
  tab: ListTab,
  { columns, skewMs }: Pick<State, 'columns' | 'skewMs'>,
): Column<JobAnswer>[] {
  const narrow = columns < 60;
  const until = (instant: string): TimedPiece => ({
    width: 7,
    right: true,
    at: (now) => countdown(Date.parse(instant) - now - skewMs, 'due'),
  });
  const since = (instant: string): TimedPiece => ({
    width: 7,
    right: true,
    at: (now) => lasted(now + skewMs - Date.parse(instant)),
  });
  const id: Column<JobAnswer> = {
    title: 'job',
    most: 12,
    least: 5,
    right: true,
    rank: 9,
    cell: (job) => text(job.id),
  };
  const kind: Column<JobAnswer> = {
    title: 'kind',
    most: narrow ? 14 : 28,
    least: narrow ? 8 : 16,
    rank: 8,
    cell: (job) => text(plain(job.kind)),
  };
  const attempts: Column<JobAnswer> = {
    title: narrow ? 'try' : 'attempts',
    most: 12,
    rank: 5,
    cell: (job) => text(nth(job, narrow)),
  };
  const error = (title: string): Column<JobAnswer> => ({
    title,
    most: 300,
    rank: 7,
    cell: (job) => (job.last_error === null ? text('') : dim(plain(headline(job.last_error)))),
  });
  switch (tab) {
    case 'retries':
      return [
        id,
        kind,
        attempts,
        { title: 'runs in', most: 7, right: true, rank: 8, cell: (job) => until(job.run_after) },
        error('last error'),
      ];
    case 'dead':
      return [
        id,
        kind,
        attempts,
        {
          title: 'died',
          most: 11,
          right: true,
          rank: 6,
          cell: (job) => (job.finished_at === null ? text('') : ago(since(job.finished_at))),
        },
        error('why'),
      ];
    case 'all':
      return [
        id,
        kind,
        {
          title: 'status',
          most: 7,
          rank: 8,
          cell: ({ status }) => text(status, STATUS_TONES[status]),
        },
        attempts,
        {
          title: 'when',
          most: 11,
          right: true,
          rank: 4,
          cell: (job) => when(job, { until, since }),
        },
        error('last error'),
      ];
  }
}

function when(
  job: JobAnswer,
  { until, since }: Record<'until' | 'since', (instant: string) => TimedPiece>,
): AnyPiece {
  switch (job.status) {
    case 'pending':
      return due(until(job.run_after));
    case 'running':
      return job.locked_at === null ? text('') : since(job.locked_at);
    case 'done':
    case 'dead':
      return job.finished_at === null ? text('') : ago(since(job.finished_at));
  }
}

function ago(piece: TimedPiece): TimedPiece {
  return { ...piece, width: 11, at: (now) => `${String(piece.at(now))} ago` };
}

function due(piece: TimedPiece): TimedPiece {
  const said = (left: string) => (left === 'due' ? left : `in ${left}`);
  return { ...piece, width: 11, at: (now) => said(String(piece.at(now))) };
}
