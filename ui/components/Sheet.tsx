import { Box } from 'ink';
import type { State } from '../store/state.js';
import { bold, dim, text } from '../text/pieces.js';
import { wrap } from '../text/wrap.js';
import { Lines } from './Lines.js';

interface Props {
  sheet: NonNullable<State['sheet']>;
  height: number;
  width: number;
}

/** A text over the panel, until the next key. */
export function Sheet({ sheet, height, width }: Props) {
  const title = [bold(` ${sheet.title}`), dim('  any key goes back')];
  const lines = wrap(sheet.text, width - 2).map((line) => [text(` ${line}`)]);
  return (
    <Box flexDirection="column" height={height}>
      <Lines lines={[title, [], ...lines].slice(0, height)} width={width} />
    </Box>
  );
}
