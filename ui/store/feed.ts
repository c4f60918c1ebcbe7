/** What happened, a line each: the end of the live panel, and the plain lines of `attach`. */
import type { EventData, EventName, JobLine, StreamEvent } from '../../src/api/contract.js';
import { compactDuration } from '../../src/job/duration.js';
import { plural } from '../../src/job/text.js';
import { figure } from '../text/figures.js';
import type { Tone } from '../text/pieces.js';
import { plain } from '../text/plain.js';

/** Texts are fit for a terminal. */
export interface FeedEntry {
  /** Of the event: tells entries apart. */
  id: string;
  at: string;
  word: string;
  tone: Tone;
  text: string;
  /** The job that it is about, and its kind where that is known. */
  job?: string;
  kind?: string;
}

type Line = Omit<FeedEntry, 'id' | 'at'>;

/** @returns undefined for an event that is seen elsewhere or says nothing by itself. */
export function feedEntry(event: StreamEvent): FeedEntry | undefined {
  const describe = LINES[event.name] as ((data: unknown) => Line | undefined) | undefined;
  const line = describe?.(event.data);
  const { at } = event.data as { at?: string };
  return line === undefined || at === undefined ? undefined : { id: event.id, at, ...line };
}

const LINES: { [Name in EventName]?: (data: EventData[Name]) => Line | undefined } = {
  settled: ({ at, job, error, duration_ms }) => {
    const took = compactDuration(duration_ms);
    if (job.status === 'done') return about(job, 'done', 'ok', took);
    const failure = plain(error ?? '');
    if (job.status === 'dead') return about(job, 'dead', 'bad', `${nth(job)}: ${failure}`);
    const again = compactDuration(Date.parse(job.run_after) - Date.parse(at));
    return about(job, 'retry', 'warn', `${nth(job)}: ${failure}, again in ${again}`);
  },
  superseded: ({ job }) =>
    about(job, 'late', 'warn', 'ended after its claim was gone; nothing was changed'),
  released: ({ job }) => about(job, 'release', 'info', 'the attempt was given back'),
  reaped: ({ job, why }) =>
    about(
      job,
      'reap',
      job.status === 'dead' ? 'bad' : 'warn',
      `${why === 'lease' ? 'its lease ran out' : 'no attempts are left'}, now ${job.status}`,
    ),
  enqueued: ({ count, first_id }) =>
    count === 1
      ? { word: 'new', tone: 'info', text: 'inserted', job: first_id }
      : {
          word: 'new',
          tone: 'info',
          text: `${figure(count)} jobs, from this one on`,
          job: first_id,
        },
  drained: ({ counts }) => {
    if (counts.claimed === 0 && counts.reaped === 0) return undefined;
    const parts = Object.entries(counts).filter(([, count]) => count > 0);
    const text = parts.map(([what, count]) => `${figure(count)} ${what}`).join(', ');
    return { word: 'drained', tone: 'dim', text };
  },
  changed: ({ job, count }) =>
    job === null
      ? { word: 'by hand', tone: 'info', text: `${plural(count, 'job')} changed` }
      : about(job, 'by hand', 'info', `now ${job.status}`),
  clock: ({ offset_ms }) => ({
    word: 'clock',
    tone: 'info',
    text: `${compactDuration(offset_ms)} ahead of this machine`,
  }),
  paused: ({ paused }) => ({
    word: paused ? 'paused' : 'resumed',
    tone: 'info',
    text: paused ? 'no tick fires until it goes on' : 'the next tick claims again',
  }),
  sandbox: ({ provider, isolation }) => ({
    word: 'sandbox',
    tone: 'info',
    text: `${plain(provider)} (isolation: ${isolation}) from the next attempt on`,
  }),
  database: ({ reachable, message }) => ({
    word: 'database',
    tone: reachable ? 'ok' : 'bad',
    text: plain(message),
  }),
  warning: ({ message }) => ({ word: 'warning', tone: 'warn', text: plain(message) }),
};

function about(job: JobLine, word: string, tone: Tone, what: string): Line {
  return { word, tone, text: what, job: job.id, kind: plain(job.kind) };
}

function nth({ attempts, max_attempts }: JobLine): string {
  return `attempt ${attempts} of ${max_attempts}`;
}
