import { Box } from 'ink';
import { useMemo } from 'react';
import { useScreen } from '../hooks/use-screen.js';
import { type Layout, listLayout } from '../layout.js';
import { jobColumns } from '../lines/job-columns.js';
import { emptyList } from '../lines/teaching.js';
import { view } from '../store/selection.js';
import type { ListTab } from '../store/state.js';
import { tableRows } from '../text/table.js';
import { Lines } from './Lines.js';
import { Teaching } from './Teaching.js';

/** Jobs that wait for a retry, that are dead, or all of them. Only rows in view are mounted. */
export function JobList({ tab, layout }: { tab: ListTab; layout: Layout }) {
  const state = useScreen();
  const { columns: width, skewMs } = state;
  const { rows, selection } = state.lists[tab];
  const { header, lines } = useMemo(
    () => tableRows(jobColumns(tab, { columns: width, skewMs }), rows ?? [], width),
    [tab, rows, width, skewMs],
  );
  if (rows === undefined || rows.length === 0) {
    const lessons = rows === undefined ? [] : emptyList(tab, state);
    return <Teaching lines={lessons} height={layout.body} width={width} />;
  }
  const room = listLayout(layout);
  const first = view(selection, rows.length, room.rows);
  return (
    <Box flexDirection="column" height={layout.body}>
      <Lines lines={[header].slice(0, room.titles)} width={width} />
      <Lines
        lines={lines.slice(first, first + room.rows)}
        width={width}
        selected={selection.index - first}
      />
    </Box>
  );
}
