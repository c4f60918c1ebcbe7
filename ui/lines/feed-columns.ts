import type { FeedEntry } from '../store/feed.js';
import { timeOfDay } from '../text/figures.js';
import { dim, text } from '../text/pieces.js';
import type { Column } from '../text/table.js';

/** What happened, in columns: when, what, to which job. */
export function feedColumns(columns: number): Column<FeedEntry>[] {
  const narrow = columns < 60;
  return [
    { title: '', most: 8, rank: 5, cell: ({ at }) => dim(timeOfDay(at)) },
    {
      title: '',
      most: 8,
      least: narrow ? 5 : 7,
      rank: 9,
      cell: ({ word, tone }) => text(word, tone),
    },
    {
      title: '',
      most: 12,
      least: narrow ? 3 : 5,
      right: true,
      rank: 8,
      cell: ({ job = '' }) => text(job),
    },
    {
      title: '',
      most: narrow ? 10 : 24,
      least: narrow ? 8 : 16,
      rank: 7,
      cell: ({ kind = '' }) => text(kind),
    },
    { title: '', most: 300, rank: 6, cell: (entry) => text(entry.text) },
  ];
}
