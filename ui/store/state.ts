/** What the screen shows: everything, as one value that is replaced and never changed. */

import type { JobWithAttempts } from '../../src/api/client.js';
import type { Explanation, JobAnswer, Overview, Relative } from '../../src/api/contract.js';
import type { Status } from '../../src/job/job.js';
import type { FeedEntry } from './feed.js';
import type { Prompt } from './prompt.js';
import type { Slots } from './slots.js';

export const TABS = ['live', 'retries', 'dead', 'all'] as const;
export type Tab = (typeof TABS)[number];
export type ListTab = Exclude<Tab, 'live'>;

/** What the `/` of a list asks for. */
export interface Filter {
  text: string;
  kind?: string;
  status?: Status;
}

/** Rows of a table with a selected one and a part that is in view. */
export interface Selection {
  /** The key of the selected row; a row that is gone hands on to the one in its place. */
  key: string | undefined;
  index: number;
  /** The first row in view. */
  top: number;
}

export interface ListState {
  /** undefined: not loaded yet. */
  rows: readonly JobAnswer[] | undefined;
  /** Whether there are more jobs than rows. */
  more: boolean;
  limit: number;
  filter: Filter;
  selection: Selection;
}

export const JOB_TABS = ['output', 'payload', 'attempts', 'lineage'] as const;
export type JobTab = (typeof JOB_TABS)[number];

export interface JobView {
  id: string;
  job: JobWithAttempts | undefined;
  explanation: Explanation | undefined;
  relatives: readonly Relative[];
  tab: JobTab;
  /** The first line in view; `end`: the last line stays in view while there come more. */
  scroll: number | 'end';
  search: string;
  /** Of the lineage: the place of the chosen relative. */
  chosen: number;
}

export interface Toast {
  tone: 'ok' | 'bad' | 'info';
  text: string;
  hint?: string;
}

/** What the run came to, for the lines that are left when the screen is closed. */
export interface Totals {
  since: number;
  claimed: number;
  done: number;
  retried: number;
  dead: number;
  /** The newest jobs that died. */
  died: readonly { id: string; kind: string; error: string }[];
}

export interface State {
  columns: number;
  rows: number;
  /** Where the emulator answers, for messages. */
  place: string;
  link: 'connecting' | 'live' | 'lost';
  /** Why the emulator is not heard, or what is wrong with its database. */
  trouble: string | undefined;
  overview: Overview | undefined;
  slots: Slots;
  feed: readonly FeedEntry[];
  /** The emulator's time is this machine's time plus this. */
  skewMs: number;
  tab: Tab;
  live: Selection;
  lists: Readonly<Record<ListTab, ListState>>;
  /** The jobs that were opened, the one on the screen last. */
  views: readonly JobView[];
  /** The first line of the help in view; undefined: it is closed. */
  help: number | undefined;
  /** A text over the panel, until the next key. */
  sheet: { title: string; text: string } | undefined;
  prompt: Prompt | undefined;
  toast: Toast | undefined;
  /** Set while the emulator stops: what it waits for. */
  stopping: string | undefined;
  totals: Totals;
}

export const TOP: Selection = { key: undefined, index: 0, top: 0 };
/** Jobs that a list asks for at first, and how many more when its end comes near. */
export const PAGE = 100;

const list: ListState = {
  rows: undefined,
  more: false,
  limit: PAGE,
  filter: { text: '' },
  selection: TOP,
};

export function initialState(size: { columns: number; rows: number }, place: string): State {
  return {
    ...size,
    place,
    link: 'connecting',
    trouble: undefined,
    overview: undefined,
    slots: [],
    feed: [],
    skewMs: 0,
    tab: 'live',
    live: TOP,
    lists: { retries: list, dead: list, all: list },
    views: [],
    help: undefined,
    sheet: undefined,
    prompt: undefined,
    toast: undefined,
    stopping: undefined,
    totals: { since: Date.now(), claimed: 0, done: 0, retried: 0, dead: 0, died: [] },
  };
}
