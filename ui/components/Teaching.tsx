import { Box } from 'ink';
import type { Lesson } from '../lines/teaching.js';
import { text } from '../text/pieces.js';
import { Lines } from './Lines.js';

interface Props {
  lines: readonly Lesson[];
  height: number;
  width: number;
}

/** What an empty panel says, a little away from its edge. */
export function Teaching({ lines, height, width }: Props) {
  const above = height > lines.length + 2 ? 1 : 0;
  const margin = text(width >= 60 ? '  ' : ' ');
  const shown = lines.slice(0, Math.max(0, height - above)).map((pieces) => [margin, ...pieces]);
  return (
    <Box flexDirection="column" height={height} paddingTop={above}>
      <Lines lines={shown} width={width} />
    </Box>
  );
}
