/** Lines of the screen as pieces of text with a meaning; components give them colours. */
import { cut, displayWidth, pad } from '../../src/columns.js';

/** What a text says, not how it looks: `Piece` components know the colours. */
export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'dim' | 'plain';

export interface Piece {
  text: string;
  tone?: Tone;
  bold?: boolean;
  inverse?: boolean;
}

/** A piece that changes with time; it takes `width` columns whatever it says. */
export interface TimedPiece {
  /** @param now this machine's time, milliseconds since 1970. */
  at: (now: number) => string | Piece;
  width: number;
  right?: boolean;
  tone?: Tone;
}

export type AnyPiece = Piece | TimedPiece;

/** Lines, one below the other. */
export type Block = readonly (readonly AnyPiece[])[];

export function isTimed(piece: AnyPiece): piece is TimedPiece {
  return 'at' in piece;
}

export function text(words: string, tone?: Tone): Piece {
  return tone === undefined ? { text: words } : { text: words, tone };
}

export const dim = (words: string): Piece => text(words, 'dim');
export const bold = (words: string, tone?: Tone): Piece => ({ ...text(words, tone), bold: true });

export function widthOf(pieces: readonly AnyPiece[]): number {
  return pieces.reduce(
    (sum, piece) => sum + (isTimed(piece) ? piece.width : displayWidth(piece.text)),
    0,
  );
}

/** What a timed piece says at a time, in exactly its columns. */
export function resolve(piece: TimedPiece, now: number): Piece {
  const said = piece.at(now);
  const found = typeof said === 'string' ? text(said, piece.tone) : said;
  return { ...found, text: pad(cut(found.text, piece.width), piece.width, piece.right) };
}

/** The pieces cut and filled to exactly `width` columns. */
export function fit(pieces: readonly AnyPiece[], width: number): AnyPiece[] {
  const fitted = cutTo(pieces, width);
  const room = width - widthOf(fitted);
  return room > 0 ? [...fitted, text(' '.repeat(room))] : fitted;
}

/** As much of the pieces as `width` columns hold. */
export function cutTo(pieces: readonly AnyPiece[], width: number): AnyPiece[] {
  const fitted: AnyPiece[] = [];
  let room = width;
  for (const piece of pieces) {
    const columns = widthOf([piece]);
    if (columns <= room) {
      fitted.push(piece);
      room -= columns;
    } else {
      if (room > 0) {
        fitted.push(
          isTimed(piece) ? { ...piece, width: room } : { ...piece, text: cut(piece.text, room) },
        );
      }
      break;
    }
  }
  return fitted;
}

/** A part of a line that may be left out where there is no room. */
export interface Part {
  pieces: AnyPiece[];
  /** The least important goes first. */
  rank: number;
}

/** Parts at the left and at the right of a line, as many as there is room for. */
export function spread(
  left: readonly Part[],
  right: readonly Part[],
  width: number,
  gap = 3,
): AnyPiece[] {
  const kept = { left: [...left], right: [...right] };
  const taken = (parts: readonly Part[]) =>
    parts.reduce((sum, { pieces }) => sum + widthOf(pieces) + gap, 0);
  for (;;) {
    const all = [...kept.left, ...kept.right];
    if (all.length <= 1 || taken(all) - gap <= width) break;
    const least = all.reduce((lowest, part) => (part.rank < lowest.rank ? part : lowest));
    kept.left = kept.left.filter((part) => part !== least);
    kept.right = kept.right.filter((part) => part !== least);
  }
  const between = (parts: readonly Part[]) =>
    parts.flatMap(({ pieces }, index) =>
      index === 0 ? pieces : [text(' '.repeat(gap)), ...pieces],
    );
  const start = between(kept.left);
  const end = between(kept.right);
  const space = width - widthOf(start) - widthOf(end);
  return cutTo([...start, text(' '.repeat(Math.max(0, space))), ...end], width);
}
