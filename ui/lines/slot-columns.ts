import type { Slot } from '../store/slots.js';
import type { State } from '../store/state.js';
import { lasted } from '../text/figures.js';
import { bar } from '../text/meters.js';
import { dim, text } from '../text/pieces.js';
import { plain, plainOutput } from '../text/plain.js';
import type { Column } from '../text/table.js';

const BAR_COLUMNS = 10;
/** From this part of its timeout on, an attempt is shown as late. */
const LATE = 0.8;

/** A slot as a row: what runs in it, for how long of its timeout, and what it wrote last. */
export function slotColumns({
  skewMs,
  columns,
}: Pick<State, 'columns' | 'skewMs'>): Column<Slot | undefined>[] {
  const elapsedMs = (slot: Slot, now: number) => now + skewMs - Date.parse(slot.started_at);
  const when =
    (cell: (slot: Slot) => ReturnType<Column<Slot>['cell']>) => (slot: Slot | undefined) =>
      slot === undefined ? text('') : cell(slot);
  const narrow = columns < 60;
  return [
    {
      title: 'job',
      most: 12,
      least: 5,
      right: true,
      rank: 9,
      cell: (slot) => (slot === undefined ? dim('idle') : text(slot.job.id)),
    },
    {
      title: 'kind',
      most: narrow ? 14 : 24,
      least: narrow ? 8 : 16,
      rank: 8,
      cell: when(({ job }) => text(plain(job.kind))),
    },
    {
      title: narrow ? 'try' : 'attempt',
      most: 12,
      rank: 5,
      cell: when(({ job }) => text(nth(job, narrow))),
    },
    {
      title: '',
      most: BAR_COLUMNS,
      rank: 3,
      cell: when((slot) => ({
        width: BAR_COLUMNS,
        at: (now) => {
          const part = elapsedMs(slot, now) / slot.timeout_ms;
          return { text: bar(part, BAR_COLUMNS).join(''), tone: part > LATE ? 'warn' : 'info' };
        },
      })),
    },
    {
      title: 'elapsed',
      most: 7,
      right: true,
      rank: 7,
      cell: when((slot) => ({ width: 7, right: true, at: (now) => lasted(elapsedMs(slot, now)) })),
    },
    {
      title: 'of',
      most: 7,
      rank: 2,
      cell: when((slot) => dim(lasted(slot.timeout_ms))),
    },
    {
      title: 'last output',
      most: 200,
      rank: 4,
      cell: when((slot) => dim(plainOutput(slot.last_output))),
    },
  ];
}

/** `1 of 3`, or `1/3` where there is little room. */
export function nth(
  { attempts, max_attempts }: { attempts: number; max_attempts: number },
  narrow: boolean,
): string {
  return `${attempts}${narrow ? '/' : ' of '}${max_attempts}`;
}
