import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { type AnyPiece, isTimed, resolve, text } from '#ui/text/pieces.js';
import { type Column, tableRows } from '#ui/text/table.js';
import { awkward } from '../../support/awkward-text.js';

type Row = [string, string, string];

const COLUMNS: Column<Row>[] = [
  { title: 'job', most: 6, right: true, rank: 9, cell: ([id]) => text(id) },
  {
    title: 'kind',
    most: 12,
    least: 6,
    rank: 5,
    cell: ([, kind]) => ({ width: 12, at: () => kind }),
  },
  { title: 'error', most: 300, rank: 7, cell: ([, , error]) => text(error) },
];

const written = (line: AnyPiece[]) =>
  line.map((piece) => (isTimed(piece) ? resolve(piece, 0) : piece).text).join('');

describe('rows in columns', () => {
  it('are aligned, numbers at the right, the last cut to the room there is', () => {
    const { header, lines } = tableRows(
      COLUMNS,
      [
        ['7', 'push', 'no such account'],
        ['1042', '支払い', 'x'.repeat(80)],
      ],
      40,
    );
    expect([header, ...lines].map(written)).toEqual([
      '  job  kind          error',
      '    7  push          no such account',
      ' 1042  支払い        xxxxxxxxxxxxxxxxxx…',
    ]);
  });

  it('leave out the least important column where there is no room', () => {
    const { header, lines } = tableRows(COLUMNS, [['7', 'push', 'no such account']], 24);
    expect([header, ...lines].map(written)).toEqual([' job  error', '   7  no such account']);
  });

  it('are never wider than the screen, whatever is in them', () => {
    const rows = fc.array(fc.tuple(awkward, awkward, awkward), { maxLength: 4 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 60 }), (some, width) => {
        const { header, lines } = tableRows(COLUMNS, some, width);
        for (const line of [header, ...lines]) {
          expect(stringWidth(written(line))).toBeLessThanOrEqual(width);
        }
      }),
    );
  });
});
