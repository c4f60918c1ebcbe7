import { Box } from 'ink';
import { useScreen } from '../hooks/use-screen.js';
import { type Layout, layoutOf } from '../layout.js';
import type { State } from '../store/state.js';
import { Bottom } from './Bottom.js';
import { Help } from './Help.js';
import { JobList } from './JobList.js';
import { JobPanel } from './JobPanel.js';
import { LivePanel } from './LivePanel.js';
import { Sheet } from './Sheet.js';
import { TabBar } from './TabBar.js';

/** All of the screen below the header: which panel it is, the panel, and the bottom. */
export function Panel() {
  const state = useScreen();
  const layout = layoutOf(state);
  return (
    <Box flexDirection="column" width={state.columns}>
      {layout.tabs > 0 && <TabBar />}
      {layout.body > 0 && <Body state={state} layout={layout} />}
      {layout.keys > 0 && <Bottom layout={layout} />}
    </Box>
  );
}

function Body({ state, layout }: { state: State; layout: Layout }) {
  const { columns: width, tab, help, sheet } = state;
  const view = state.views.at(-1);
  if (help !== undefined) return <Help first={help} height={layout.body} width={width} />;
  if (sheet !== undefined) return <Sheet sheet={sheet} height={layout.body} width={width} />;
  if (view !== undefined) return <JobPanel view={view} layout={layout} />;
  if (tab === 'live') return <LivePanel layout={layout} />;
  return <JobList tab={tab} layout={layout} />;
}
