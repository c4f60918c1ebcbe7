import { Box } from 'ink';
import { useScreen } from '../hooks/use-screen.js';
import { documentOf, matches, topOf } from '../job/document.js';
import { jobFacts } from '../job/facts.js';
import { jobLayout, type Layout } from '../layout.js';
import { JOB_TABS, type JobTab, type JobView } from '../store/state.js';
import { type AnyPiece, type Block, dim, isTimed, text, widthOf } from '../text/pieces.js';
import { plain } from '../text/plain.js';
import { Lines } from './Lines.js';

const NAMES: Record<JobTab, string> = {
  output: 'Output',
  payload: 'Payload',
  attempts: 'Attempts',
  lineage: 'Lineage',
};

/** One job: what is known of it, and its output, payload, attempts or lineage. */
export function JobPanel({ view, layout }: { view: JobView; layout: Layout }) {
  const state = useScreen();
  const { columns: width } = state;
  const facts = jobFacts(view, state);
  const room = jobLayout(layout, facts.length);
  const document = documentOf(view, width);
  const top = topOf(view, document.length, room.text);
  const shown = document.slice(top, top + room.text);
  const selected = selectedLine(view, document.length);
  return (
    <Box flexDirection="column" height={layout.body}>
      <Lines lines={facts.slice(0, room.facts)} width={width} />
      <Lines lines={[tabLine(view, document, top, width)].slice(0, room.tabs)} width={width} />
      <Lines
        lines={shown.map((pieces) => found(pieces, view.search))}
        width={width}
        {...(selected !== undefined && { selected: selected - top })}
      />
    </Box>
  );
}

/** In the lineage a job can be chosen; the first line is its titles. */
function selectedLine({ tab, chosen, relatives }: JobView, length: number): number | undefined {
  if (tab !== 'lineage' || relatives.length === 0) return undefined;
  return Math.min(chosen + 1, length - 1);
}

function tabLine(view: JobView, document: Block, top: number, width: number): AnyPiece[] {
  const narrow = width < 60;
  const tabs = JOB_TABS.map((tab, index) => ({
    text: narrow ? ` ${NAMES[tab]}` : ` ${index + 1} ${NAMES[tab]}${countOf(view, tab)} `,
    inverse: tab === view.tab,
    bold: tab === view.tab,
  }));
  const right = position(view, document, top);
  const rule = Math.max(0, width - widthOf(tabs) - widthOf(right) - 1);
  return [...tabs, text(' '), dim('─'.repeat(rule)), ...right];
}

function countOf({ job, relatives }: JobView, tab: JobTab): string {
  if (tab === 'attempts' && job?.attempts_log) return ` ${job.attempts_log.length}`;
  return tab === 'lineage' && relatives.length > 1 ? ` ${relatives.length}` : '';
}

function position(view: JobView, document: Block, top: number): AnyPiece[] {
  const { search, scroll, job } = view;
  if (search !== '') {
    const count = matches(document, search).length;
    return [dim(' / '), text(plain(search), 'info'), dim(` ${count} found `)];
  }
  if (scroll === 'end' && job?.status === 'running') return [text(' following ', 'info')];
  return [dim(` ${Math.min(document.length, top + 1)}/${document.length} `)];
}

/** A line with what is searched for shown inverse. */
function found(pieces: readonly AnyPiece[], search: string): readonly AnyPiece[] {
  if (search === '') return pieces;
  return pieces.flatMap((piece) => {
    if (isTimed(piece)) return [piece];
    const parts: AnyPiece[] = [];
    const lower = piece.text.toLowerCase();
    let from = 0;
    for (let at = lower.indexOf(search.toLowerCase()); at >= 0; ) {
      const end = at + search.length;
      parts.push({ ...piece, text: piece.text.slice(from, at) });
      parts.push({ ...piece, text: piece.text.slice(at, end), inverse: true });
      from = end;
      at = lower.indexOf(search.toLowerCase(), from);
    }
    return [...parts, { ...piece, text: piece.text.slice(from) }];
  });
}
