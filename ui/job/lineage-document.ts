import type { Relative } from '../../src/api/contract.js';
import { headline } from '../../src/job/text.js';
import { STATUS_TONES } from '../lines/job-columns.js';
import { nth } from '../lines/slot-columns.js';
import type { JobView } from '../store/state.js';
import { type Block, bold, dim, text } from '../text/pieces.js';
import { plain } from '../text/plain.js';
import { type Column, tableRows } from '../text/table.js';

/** Where the job came from and what was made of it: edited copies below what they are copies of. */
export function lineageDocument({ id, relatives }: JobView, width: number): Block {
  const depth = (relative: Relative): number => {
    const parent = relatives.find((other) => other.id === relative.parent_id);
    return parent === undefined ? 0 : depth(parent) + 1;
  };
  const columns: Column<Relative>[] = [
    {
      title: 'job',
      most: 40,
      rank: 9,
      cell: (relative) => {
        const level = depth(relative);
        const branch = level === 0 ? '' : `${'  '.repeat(level - 1)}└ `;
        return relative.id === id
          ? bold(`${branch}${relative.id}`)
          : text(`${branch}${relative.id}`);
      },
    },
    { title: 'kind', most: 28, rank: 6, cell: ({ kind }) => text(plain(kind)) },
    {
      title: 'status',
      most: 7,
      rank: 8,
      cell: ({ status }) => text(status, STATUS_TONES[status]),
    },
    { title: 'attempts', most: 12, rank: 5, cell: (relative) => text(nth(relative, false)) },
    {
      title: 'last error',
      most: 300,
      rank: 7,
      cell: ({ last_error }) => dim(last_error === null ? '' : plain(headline(last_error))),
    },
  ];
  const { header, lines } = tableRows(columns, relatives, width);
  if (relatives.length > 1) return [header, ...lines];
  return [
    header,
    ...lines,
    [],
    [
      text('  No copy was made of it. '),
      bold('e', 'info'),
      text(' edits its payload; what is over runs again as a copy.'),
    ],
  ];
}
