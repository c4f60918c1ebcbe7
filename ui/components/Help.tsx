import { Box } from 'ink';
import { helpLines } from '../keys/help-lines.js';
import { Lines } from './Lines.js';

/** Every key, and the command that does the same. */
export function Help({ first, height, width }: { first: number; height: number; width: number }) {
  return (
    <Box flexDirection="column" height={height}>
      <Lines lines={helpLines(width).slice(first, first + height)} width={width} />
    </Box>
  );
}
