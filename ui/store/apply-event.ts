import type { EventData, EventName, Overview, StreamEvent } from '../../src/api/contract.js';
import type { Status } from '../../src/job/job.js';
import { lastLine } from '../../src/job/text.js';
import { plain } from '../text/plain.js';
import { feedEntry } from './feed.js';
import { patchJob } from './list.js';
import { free, occupy, type Slot } from './slots.js';
import type { State, Totals } from './state.js';

/** Entries of the feed that are kept. */
const FEED_LENGTH = 500;
/** Characters of a stream that are kept to find its last line in. */
const TAIL_LENGTH = 2_000;
/** Dead jobs that the summary of the run names. */
const DIED_LENGTH = 5;

type Apply = { [Name in EventName]?: (state: State, data: EventData[Name]) => State };

/** The state after an event. */
export function applyEvent(state: State, event: StreamEvent): State {
  const apply = APPLY[event.name] as ((state: State, data: unknown) => State) | undefined;
  const applied = apply?.(state, event.data) ?? state;
  const entry = feedEntry(event);
  if (entry === undefined) return applied;
  return { ...applied, feed: [entry, ...applied.feed].slice(0, FEED_LENGTH) };
}

const APPLY: Apply = {
  claimed: (state, { at, job, claim_id, provider, isolation, timeout_ms }) => {
    const slot: Slot = {
      job,
      claim_id,
      provider,
      isolation,
      started_at: at,
      timeout_ms,
      last_output: '',
      tail: '',
    };
    const counted = count(patched(state, job), { pending: -1, running: 1 });
    return {
      ...counted,
      slots: occupy(state.slots, slot),
      totals: { ...state.totals, claimed: state.totals.claimed + 1 },
    };
  },
  output: (state, { claim_id, text }) => ({
    ...state,
    slots: state.slots.map((slot) => {
      if (slot?.claim_id !== claim_id) return slot;
      const tail = (slot.tail + text).slice(-TAIL_LENGTH);
      return { ...slot, tail, last_output: lastLine(tail) };
    }),
  }),
  settled: (state, { at, job, claim_id }) => ({
    ...count(patched(over(state, claim_id), job, at), { running: -1, [job.status]: 1 }),
    totals: settledTotals(state.totals, job),
  }),
  superseded: (state, { claim_id }) => over(state, claim_id),
  released: (state, { job, claim_id }) =>
    count(patched(over(state, claim_id), job), { running: -1, pending: 1 }),
  reaped: (state, { at, job, why }) => ({
    ...count(patched(state, job, at), {
      [why === 'lease' ? 'running' : 'pending']: -1,
      [job.status]: 1,
    }),
    slots: free(state.slots, (slot) => slot.job.id === job.id),
    totals: job.status === 'dead' ? settledTotals(state.totals, job) : state.totals,
  }),
  enqueued: (state, data) => count(state, { pending: data.count }),
  changed: (state, { at, job }) => (job === null ? state : patched(state, job, at)),
  clock: (state, { offset_ms }) => ({
    ...inInfo(state, (info) => ({ ...info, clock_offset_ms: offset_ms })),
    skewMs: state.skewMs + offset_ms - (state.overview?.info.clock_offset_ms ?? offset_ms),
  }),
  paused: (state, { paused }) =>
    inInfo(state, (info) => ({ ...info, cron: { ...info.cron, paused } })),
  sandbox: (state, { provider, description, isolation }) =>
    inInfo(state, (info) => ({ ...info, sandbox: { provider, description, isolation } })),
  database: (state, { reachable, message }) => ({
    ...state,
    trouble: reachable ? undefined : plain(message),
  }),
};

/** An attempt is over: its slot is free. */
function over(state: State, claimId: string): State {
  return { ...state, slots: free(state.slots, (slot) => slot.claim_id === claimId) };
}

function patched(state: State, job: EventData['changed']['job'] & object, at?: string): State {
  return { ...state, lists: patchJob(state.lists, job, at) };
}

function count(state: State, changes: Partial<Record<Status, number>>): State {
  const { overview } = state;
  if (overview === undefined) return state;
  const counts = { ...overview.stats.counts };
  for (const [status, by] of Object.entries(changes) as [Status, number][]) {
    counts[status] = Math.max(0, counts[status] + by);
  }
  return { ...state, overview: { ...overview, stats: { ...overview.stats, counts } } };
}

function inInfo(state: State, change: (info: Overview['info']) => Overview['info']): State {
  const { overview } = state;
  if (overview === undefined) return state;
  return { ...state, overview: { ...overview, info: change(overview.info) } };
}

function settledTotals(totals: Totals, job: EventData['settled']['job']): Totals {
  if (job.status === 'done') return { ...totals, done: totals.done + 1 };
  if (job.status !== 'dead') return { ...totals, retried: totals.retried + 1 };
  const died = { id: job.id, kind: job.kind, error: job.last_error ?? '' };
  return {
    ...totals,
    dead: totals.dead + 1,
    died: [died, ...totals.died].slice(0, DIED_LENGTH),
  };
}
