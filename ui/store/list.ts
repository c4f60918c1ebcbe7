/** The lists of jobs: what a page of the API and single events make of them. */
import type { JobAnswer, JobLine } from '../../src/api/contract.js';
import { LIST_LIMIT } from '../../src/api/contract.js';
import { keep } from './selection.js';
import type { Filter, ListState, ListTab, State } from './state.js';

type Lists = State['lists'];

/** The query of a list for `GET /jobs`. */
export function listQuery(tab: ListTab, { filter, limit }: ListState): string {
  const fixed: Record<ListTab, Record<string, string>> = {
    retries: { status: 'pending', attempted: 'true', order: 'next' },
    dead: { status: 'dead' },
    all: filter.status === undefined ? {} : { status: filter.status },
  };
  const query = new URLSearchParams({
    payload: 'false',
    limit: String(Math.min(limit, LIST_LIMIT)),
    ...fixed[tab],
    ...(filter.text !== '' && { text: filter.text }),
    ...(filter.kind !== undefined && { kind: filter.kind }),
  });
  return `/jobs?${query}`;
}

/** A list after its page has come. */
export function withPage(list: ListState, rows: readonly JobAnswer[]): ListState {
  return {
    ...list,
    rows,
    more: rows.length >= list.limit,
    selection: keep(
      list.selection,
      rows.map(({ id }) => id),
    ),
  };
}

const BELONGS: Record<ListTab, (job: JobLine, filter: Filter) => boolean> = {
  retries: (job) => job.status === 'pending' && job.attempts > 0,
  dead: (job) => job.status === 'dead',
  all: (job, { status }) => status === undefined || job.status === status,
};

/**
 * A job as it is now, in every list that shows it: changed in place, or taken out where it does not
 * belong any more. Where it is new, the next page brings it.
 * @param at when that was.
 */
export function patchJob(lists: Lists, job: JobLine, at?: string): Lists {
  let patched = lists;
  for (const tab of Object.keys(lists) as ListTab[]) {
    const list = lists[tab];
    const index = list.rows?.findIndex(({ id }) => id === job.id) ?? -1;
    if (list.rows === undefined || index < 0) continue;
    const rows = [...list.rows];
    if (BELONGS[tab](job, list.filter)) {
      const over = job.status === 'done' || job.status === 'dead';
      const finished_at = over ? (at ?? rows[index]!.finished_at) : null;
      rows[index] = { ...rows[index]!, ...job, finished_at };
    } else {
      rows.splice(index, 1);
    }
    const selection = keep(
      list.selection,
      rows.map(({ id }) => id),
    );
    patched = { ...patched, [tab]: { ...list, rows, selection } };
  }
  return patched;
}

/** `push kind:ci status:dead` → what each part asks for. */
export function parseFilter(text: string): Filter {
  const filter: Filter = { text: '' };
  const words: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const [, key, value] = /^(kind|status):(.+)$/.exec(word) ?? [];
    if (key === 'kind') filter.kind = value!;
    else if (key === 'status' && isStatus(value!)) filter.status = value;
    else words.push(word);
  }
  filter.text = words.join(' ');
  return filter;
}

export function filterText({ text, kind, status }: Filter): string {
  return [text, kind && `kind:${kind}`, status && `status:${status}`].filter(Boolean).join(' ');
}

function isStatus(text: string): text is NonNullable<Filter['status']> {
  return ['pending', 'running', 'done', 'dead'].includes(text);
}
