import { useScreen } from '../hooks/use-screen.js';
import { filterText } from '../store/list.js';
import { type State, TABS, type Tab } from '../store/state.js';
import { figure } from '../text/figures.js';
import { type AnyPiece, bold, dim, text, widthOf } from '../text/pieces.js';
import { plain } from '../text/plain.js';
import { Line } from './Line.js';

const NAMES: Record<Tab, string> = { live: 'Live', retries: 'Retries', dead: 'Dead', all: 'All' };

/** The panels by name, or which job is open, on a rule. */
export function TabBar() {
  const state = useScreen();
  const { columns } = state;
  const left = state.views.length > 0 ? jobTitle(state) : tabs(state);
  const right = rightOf(state);
  const room = columns - widthOf(left) - widthOf(right) - 1;
  const rule = dim('─'.repeat(Math.max(0, room)));
  return <Line pieces={[...left, text(' '), rule, ...right]} width={columns} />;
}

function tabs(state: State): AnyPiece[] {
  const narrow = state.columns < 50;
  return TABS.flatMap((tab, index) => {
    const count = countOf(state, tab);
    const number = narrow ? '' : `${index + 1} `;
    const shown = ` ${number}${NAMES[tab]}${count === undefined ? '' : ` ${figure(count)}`} `;
    return [{ text: shown, inverse: tab === state.tab, bold: tab === state.tab }];
  });
}

function countOf({ overview, lists, slots, tab: open }: State, tab: Tab): number | undefined {
  if (overview === undefined) return undefined;
  const { counts } = overview.stats;
  switch (tab) {
    case 'live':
      return slots.filter((slot) => slot !== undefined).length;
    case 'retries':
      // No overview has it, and the list is kept up to date only while it is seen.
      return open !== tab || lists.retries.more ? undefined : lists.retries.rows?.length;
    case 'dead':
      return counts.dead;
    case 'all':
      return counts.pending + counts.running + counts.done + counts.dead;
  }
}

function jobTitle({ views }: State): AnyPiece[] {
  const { id, job } = views.at(-1)!;
  return [bold(` job ${id} ${job === undefined ? '' : plain(job.kind)}`)];
}

function rightOf(state: State): AnyPiece[] {
  if (state.views.length > 0) return [dim(' esc back ')];
  if (state.tab === 'live') return [];
  const filter = filterText(state.lists[state.tab].filter);
  return filter === '' ? [] : [dim(' / '), text(`${plain(filter)} `, 'info')];
}
