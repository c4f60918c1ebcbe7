import { displayWidth } from '../../src/columns.js';
import { type AnyPiece, cutTo, dim, fit, isTimed, text, widthOf } from './pieces.js';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => AnyPiece;
  /** The column is as wide as what is in it, at most and at least so wide. */
  most: number;
  least?: number;
  right?: boolean;
  /** Columns that are left out first where there is no room have the lowest rank. */
  rank: number;
}

/** The last column takes the room that is left, at least so much. */
const LEAST_LAST = 12;
const GAP = 2;

export interface Rows {
  header: AnyPiece[];
  lines: AnyPiece[][];
}

/**
 * Rows in columns that stay aligned, each line exactly `width` wide. What comes first in a line
 * is a column free for a mark.
 */
export function tableRows<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): Rows {
  const cells = new Map(columns.map((column) => [column, rows.map((row) => column.cell(row))]));
  const natural = (column: Column<Row>) =>
    Math.min(
      column.most,
      Math.max(
        column.least ?? 0,
        displayWidth(column.title),
        ...cells.get(column)!.map((cell) => widthOf([cell])),
      ),
    );
  let shown = [...columns];
  const fixed = () => shown.slice(0, -1).reduce((sum, column) => sum + natural(column) + GAP, 1);
  while (shown.length > 1 && fixed() + Math.min(LEAST_LAST, natural(shown.at(-1)!)) > width) {
    const least = shown.reduce((lowest, column) => (column.rank < lowest.rank ? column : lowest));
    shown = shown.filter((column) => column !== least);
  }
  const last = shown.at(-1);
  const line = (pieceOf: (column: Column<Row>) => AnyPiece): AnyPiece[] => {
    const pieces = shown.flatMap((column) => {
      if (column === last) return [pieceOf(column)];
      return [...cell(pieceOf(column), natural(column), column.right), text(' '.repeat(GAP))];
    });
    return cutTo([text(' '), ...pieces], width);
  };
  return {
    header: line((column) => dim(column.title)),
    lines: rows.map((_row, index) => line((column) => cells.get(column)![index]!)),
  };
}

function cell(piece: AnyPiece, width: number, right = false): AnyPiece[] {
  if (isTimed(piece)) return [{ ...piece, width, right }];
  const columns = widthOf([piece]);
  return right && columns < width
    ? [text(' '.repeat(width - columns)), piece]
    : fit([piece], width);
}
