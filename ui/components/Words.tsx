import { Text } from 'ink';
import { useColours } from '../hooks/use-colours.js';
import type { Piece, Tone } from '../text/pieces.js';

// Only the terminal's own colours, and none for plain text: they are readable on a light and on a
// dark ground alike.
const COLOURS: Partial<Record<Tone, string>> = {
  ok: 'green',
  warn: 'yellow',
  bad: 'red',
  info: 'cyan',
};

/** A piece of a line. */
export function Words({ piece }: { piece: Piece }) {
  const colours = useColours();
  const { text, tone = 'plain', inverse = false } = piece;
  const color = colours && !inverse ? COLOURS[tone] : undefined;
  const loud = !colours && (tone === 'bad' || tone === 'warn');
  return (
    <Text
      {...(color !== undefined && { color })}
      bold={(piece.bold ?? false) || loud}
      dimColor={tone === 'dim' && !inverse}
      inverse={inverse}
    >
      {text}
    </Text>
  );
}
