import { Box } from 'ink';
import { useScreen } from '../hooks/use-screen.js';
import { layoutOf } from '../layout.js';
import { headerLines } from '../lines/header.js';
import { Lines } from './Lines.js';

/** How the queue stands, in one look. */
export function Header() {
  const state = useScreen();
  const lines = headerLines(state, layoutOf(state).header);
  return (
    <Box flexDirection="column" width={state.columns}>
      <Lines lines={lines} width={state.columns} />
    </Box>
  );
}
