import { useTimed } from '../hooks/use-timed.js';
import type { TimedPiece } from '../text/pieces.js';
import { Words } from './Words.js';

/** A piece of a line that changes with time. */
export function Timed({ piece, inverse }: { piece: TimedPiece; inverse: boolean }) {
  const said = useTimed(piece);
  return <Words piece={inverse ? { ...said, inverse } : said} />;
}
