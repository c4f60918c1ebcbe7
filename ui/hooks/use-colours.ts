import { createContext, useContext } from 'react';

/** Whether colours may be used; without them, bold, dim and inverse say what they would. */
export const ColoursContext = createContext(true);

export function useColours(): boolean {
  return useContext(ColoursContext);
}
