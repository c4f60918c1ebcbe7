import type { Attempt } from '../../src/job/job.js';
import { headline } from '../../src/job/text.js';
import type { JobView } from '../store/state.js';
import { memory, timeOfDay } from '../text/figures.js';
import { type Block, dim, text } from '../text/pieces.js';
import { plain } from '../text/plain.js';
import { type Column, tableRows } from '../text/table.js';
import { ending, endingTone } from './ending.js';

const COLUMNS: Column<Attempt>[] = [
  { title: 'no', most: 4, right: true, rank: 9, cell: ({ attempt }) => text(String(attempt)) },
  {
    title: 'started',
    most: 8,
    rank: 5,
    cell: ({ started_at }) => dim(timeOfDay(started_at.getTime())),
  },
  {
    title: 'ended',
    most: 40,
    rank: 8,
    cell: (attempt) => text(ending(attempt), endingTone(attempt)),
  },
  {
    title: 'in',
    most: 24,
    rank: 6,
    cell: ({ provider, isolation }) =>
      text(
        plain(`${provider ?? '?'}, ${isolation === 'none' ? 'not isolated' : (isolation ?? '?')}`),
      ),
  },
  {
    title: 'memory',
    most: 8,
    right: true,
    rank: 3,
    cell: ({ peak_memory_bytes: peak }) => dim(peak === null ? '' : memory(peak)),
  },
  {
    title: 'error',
    most: 300,
    rank: 4,
    cell: ({ error }) => dim(error === null ? '' : plain(headline(error))),
  },
];

/** Every attempt as a row; one that came after its claim was gone says so. */
export function attemptsDocument({ job }: JobView, width: number): Block {
  const attempts = job!.attempts_log ?? [];
  if (attempts.length === 0) return [[], [text('  It has not run yet: there are no attempts.')]];
  const { header, lines } = tableRows(COLUMNS, attempts, width);
  return [header, ...lines];
}
