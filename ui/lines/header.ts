/** What the header says, for the room that it has. */
import type { Overview } from '../../src/api/contract.js';
import { compactDuration } from '../../src/job/duration.js';
import type { Status } from '../../src/job/job.js';
import type { State } from '../store/state.js';
import { countdown, figure, lasted } from '../text/figures.js';
import { sparkline } from '../text/meters.js';
import {
  type AnyPiece,
  bold,
  dim,
  type Part,
  spread,
  type TimedPiece,
  text,
} from '../text/pieces.js';
import { plain } from '../text/plain.js';

/** Columns of the sparkline: a minute each, or two. */
const SPARK_COLUMNS = { most: 60, few: 30 };
/** From this width on, words are written out. */
const WIDE = 60;

/** @param lines how many there is room for: 1 to 4. */
export function headerLines(state: State, lines: number): AnyPiece[][] {
  const { overview, columns } = state;
  const wide = columns >= WIDE;
  const line = (left: Part[], right: Part[]) => spread(left, right, columns, wide ? 3 : 1);
  if (overview === undefined) {
    const empty = Array.from({ length: lines }, () => line([], []));
    return [line([brand(state)], [part(1, dim(state.place))]), ...empty].slice(0, lines);
  }
  const [pending, running, done, dead] = counts(overview, wide);
  const short = [status(state), pending, running, dead];
  const tick = nextTick(state, overview, wide);
  if (lines <= 1) return [line(short, [tick])];
  if (lines === 2)
    return [line(short, [tick]), line(waiting(state, overview, wide), clock(overview))];
  const all = [
    line([brand(state)], [...clock(overview), ...addresses(overview)]),
    line([pending, running, done, dead], [rates(overview)]),
    line(waiting(state, overview, wide), [tick, schedule(overview)]),
    line([sandbox(overview)], [database(overview, columns)]),
  ];
  return all.slice(0, lines);
}

function part(rank: number, ...pieces: AnyPiece[]): Part {
  return { rank, pieces };
}

const LIGHTS = { connecting: dim('○'), live: text('●', 'ok'), lost: text('○', 'bad') } as const;

function status(state: State): Part {
  const paused = state.overview?.info.cron.paused === true;
  return part(10, paused && state.link === 'live' ? text('‖', 'warn') : LIGHTS[state.link]);
}

function brand(state: State): Part {
  const word =
    state.stopping !== undefined
      ? text(' stopping', 'warn')
      : state.link === 'lost'
        ? text(' lost', 'bad')
        : state.link === 'connecting'
          ? dim(' connecting')
          : state.overview?.info.cron.paused
            ? text(' paused', 'warn')
            : text('');
  return part(10, bold('jobq-dev'), text(' '), ...status(state).pieces, word);
}

function counts({ stats, info }: Overview, wide: boolean): [Part, Part, Part, Part] {
  const { pending, running, done, dead } = stats.counts;
  // Of a large table some counts are the planner's.
  const about = (status: Status) => (stats.estimated.includes(status) ? '~' : '');
  return [
    part(9, dim('pending '), bold(about('pending') + figure(pending))),
    part(
      8,
      dim(wide ? 'running ' : 'run '),
      bold(figure(running)),
      dim(wide ? ` of ${figure(info.concurrency)}` : ''),
    ),
    part(4, dim('done '), bold(about('done') + figure(done), done > 0 ? 'ok' : undefined)),
    part(7, dim('dead '), bold(about('dead') + figure(dead), dead > 0 ? 'bad' : undefined)),
  ];
}

function rates({ stats: { last_minute } }: Overview): Part {
  const { done, failed } = last_minute;
  const failures = failed > 0 ? [dim(', '), text(figure(failed), 'warn'), dim(' failed')] : [];
  return part(2, text(figure(done)), dim(' done'), ...failures, dim(' a minute'));
}

/** The age of the oldest waiting job, which is the number to watch, and its last hour. */
function waiting(state: State, { info, stats, history }: Overview, wide: boolean): Part[] {
  const { oldest_waiting_ms: oldestMs } = stats;
  const label = dim('oldest waiting ');
  const sinceMs = Date.parse(info.now) - (oldestMs ?? 0);
  const age: AnyPiece =
    oldestMs === null
      ? dim('none')
      : {
          width: 7,
          at: (now) => {
            const ageMs = now + state.skewMs - sinceMs;
            const late = ageMs > info.alert_age_ms;
            const tone = late ? 'bad' : ageMs > info.alert_age_ms / 2 ? 'warn' : 'plain';
            return { text: lasted(ageMs), tone, bold: true };
          },
        };
  const room = state.columns >= 110 ? SPARK_COLUMNS.most : wide ? SPARK_COLUMNS.few : 12;
  const samples = history.map((sample) => sample.oldest_waiting_ms ?? 0);
  // As high as a block is an age that calls for a person.
  const spark = sparkline(samples, room, info.alert_age_ms);
  const late = (oldestMs ?? 0) > info.alert_age_ms;
  const hour: Part[] =
    samples.length < 2
      ? []
      : [part(3, text(spark, late ? 'bad' : 'info'), dim(wide ? ' last hour' : ''))];
  return [part(9, label, age), ...hour];
}

function nextTick(state: State, { info: { cron } }: Overview, wide: boolean): Part {
  if (cron.paused) return part(8, text('paused', 'warn'), dim(', p goes on'));
  if (cron.next_tick === null) return part(8, dim('no tick'));
  const at = Date.parse(cron.next_tick);
  const left: TimedPiece = { width: wide ? 7 : 5, at: (now) => countdown(at - now - state.skewMs) };
  return part(8, dim(wide ? 'next tick ' : 'tick '), left);
}

function schedule({ info: { cron } }: Overview): Part {
  return part(1, dim(`${plain(cron.expression)} ${plain(cron.timezone)}`));
}

function clock({ info: { clock_offset_ms: offsetMs } }: Overview): Part[] {
  if (offsetMs < 1_000) return [];
  return [part(7, dim('clock '), text(`+${compactDuration(offsetMs)}`, 'info'))];
}

function addresses({ info: { urls } }: Overview): Part[] {
  return [
    ...(urls.http === null ? [] : [part(6, dim('http '), text(authority(urls.http)))]),
    ...(urls.postgres === null ? [] : [part(5, dim('postgres '), text(authority(urls.postgres)))]),
  ];
}

/** `127.0.0.1:5627`, of a URL. */
function authority(url: string): string {
  return plain(url.replace(/^\w+:\/\/(?:[^@/]*@)?/, '').replace(/\/$/, ''));
}

function sandbox({ info: { sandbox: used } }: Overview): Part {
  const isolated =
    used.isolation === 'none' ? text('not isolated', 'warn') : text(plain(used.isolation), 'ok');
  return part(5, dim('sandbox '), text(`${plain(used.provider)}, `), isolated);
}

function database({ info: { database: used } }: Overview, columns: number): Part {
  const driver = used.driver === 'pglite' ? 'PGlite' : 'Postgres';
  const location = plain(used.location);
  // The end of a long path says where it is.
  const room = Math.max(16, columns - 50);
  const shown = location.length <= room ? location : `…${location.slice(1 - room)}`;
  return part(4, dim(`database ${driver} `), text(shown));
}
