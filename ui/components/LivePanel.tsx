import { Box } from 'ink';
import { useScreen } from '../hooks/use-screen.js';
import { type Layout, liveLayout } from '../layout.js';
import { feedColumns } from '../lines/feed-columns.js';
import { slotColumns } from '../lines/slot-columns.js';
import { firstSteps } from '../lines/teaching.js';
import { view } from '../store/selection.js';
import { type AnyPiece, dim } from '../text/pieces.js';
import { tableRows } from '../text/table.js';
import { Lines } from './Lines.js';
import { Teaching } from './Teaching.js';

/** Attempts under way, a row a slot, and below them what happened, newest first. */
export function LivePanel({ layout }: { layout: Layout }) {
  const state = useScreen();
  const { columns: width, slots, feed, live } = state;
  const room = liveLayout(layout, slots.length);
  const { header, lines } = tableRows(slotColumns(state), slots, width);
  const inSlots = live.index < slots.length;
  const inFeed = live.index - slots.length;
  const slot = inSlots ? view({ ...live, top: 0 }, slots.length, room.slots) : 0;
  const entry = inSlots ? 0 : view({ ...live, index: inFeed }, feed.length, room.feed);
  const shown = feed.slice(entry, entry + room.feed);
  return (
    <Box flexDirection="column" height={layout.body}>
      <Lines lines={[header].slice(0, room.titles)} width={width} />
      <Lines
        lines={lines.slice(slot, slot + room.slots)}
        width={width}
        selected={live.index - slot}
      />
      <Lines lines={[rule(width)].slice(0, room.rule)} width={width} />
      {feed.length === 0 ? (
        <Teaching lines={firstSteps(state)} height={room.feed} width={width} />
      ) : (
        <Lines
          lines={tableRows(feedColumns(width), shown, width).lines}
          width={width}
          selected={inFeed - entry}
        />
      )}
    </Box>
  );
}

function rule(width: number): AnyPiece[] {
  return [dim(`── what happened ${'─'.repeat(Math.max(0, width - 17))}`)];
}
