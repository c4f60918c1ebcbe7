import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Seconds } from '../store/seconds.js';
import { type Piece, resolve, type TimedPiece } from '../text/pieces.js';

export const SecondsContext = createContext<Pick<Seconds, 'now' | 'subscribe'> | undefined>(
  undefined,
);

/** What a timed piece says now. Draws again only when that changes, not every second. */
export function useTimed(piece: TimedPiece): Piece {
  const seconds = useContext(SecondsContext)!;
  const said = () => {
    const { tone, text } = resolve(piece, seconds.now);
    return `${tone} ${text}`;
  };
  useSyncExternalStore(seconds.subscribe, said, said);
  return resolve(piece, seconds.now);
}
