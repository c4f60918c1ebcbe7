import { Text } from 'ink';
import { type AnyPiece, cutTo, fit, isTimed, widthOf } from '../text/pieces.js';
import { Timed } from './Timed.js';
import { Words } from './Words.js';

interface Props {
  pieces: readonly AnyPiece[];
  width: number;
  /** Shown inverse, with a mark in its first column for terminals that cannot. */
  selected?: boolean;
}

/** One line of the screen: never more, never wider. */
export function Line({ pieces, width, selected = false }: Props) {
  // What is not there costs nothing to draw; a selected line is one to its end.
  const fitted = (selected ? fit : cutTo)(pieces, width);
  // Text that is empty would be no line at all.
  if (widthOf(fitted) === 0) return <Text> </Text>;
  const first = fitted[0];
  if (selected && first !== undefined && !isTimed(first)) {
    fitted[0] = { ...first, text: first.text.replace(/^ /, '›') };
  }
  return (
    <Text wrap="truncate">
      {fitted.map((piece, index) =>
        isTimed(piece) ? (
          <Timed key={index} piece={piece} inverse={selected} />
        ) : (
          <Words key={index} piece={selected ? { ...piece, inverse: true } : piece} />
        ),
      )}
    </Text>
  );
}
