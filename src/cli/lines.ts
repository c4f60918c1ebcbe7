/** What happens in the emulator as plain lines, or as JSON Lines under `--json`. */
import type { EventMap, Events } from '../events.js';
import { formatDuration } from '../job/duration.js';
import type { Job } from '../job/job.js';
import { describeOutcome } from '../job/outcome.js';
import { headline, shownKind, visible } from '../job/text.js';
import type { Output } from './output.js';

/** Writes each event as it happens. @returns a function that stops it. */
export function printEvents(events: Events, output: Output): () => void {
  const printers: { [Name in keyof EventMap]?: (...args: EventMap[Name]) => void } = {
    tick: ({ at, cause }) => {
      if (!output.quiet) say(output, at, 'tick', TICKS[cause]);
      output.document({ event: 'tick', at, cause });
    },
    claimed: ({ at, job, provider }) => {
      if (!output.quiet) say(output, at, 'claim', `${name(job)}, attempt ${nth(job)}`);
      output.document({ event: 'claimed', at, ...ident(job), provider });
    },
    settled: (event) => {
      const { at, job, status, error, durationMs, runAfter } = event;
      const failure = visible(headline(error ?? ''));
      if (status === 'done' && !output.quiet) {
        const took = formatDuration(durationMs);
        say(output, at, output.paint('green', 'done'), `${name(job)} in ${took}`, 'done');
      } else if (status === 'pending' && !output.quiet) {
        const again = formatDuration(runAfter!.getTime() - at.getTime());
        say(
          output,
          at,
          output.paint('yellow', 'retry'),
          `${name(job)}, attempt ${nth(job)}: ${failure} (again in ${again})`,
          'retry',
        );
      } else if (status === 'dead') {
        say(
          output,
          at,
          output.paint('red', 'dead'),
          `${name(job)}, attempt ${nth(job)}: ${failure} (jobq-dev jobs show ${job.id})`,
          'dead',
        );
      }
      output.document({
        event: 'settled',
        at,
        ...ident(job),
        status,
        outcome: event.outcome,
        duration_ms: Math.round(durationMs),
        error,
        run_after: runAfter ?? null,
      });
    },
    superseded: ({ at, job, outcome }) => {
      say(
        output,
        at,
        'late',
        `${name(job)}, attempt ${nth(job)}: ${describeOutcome(outcome)} after its claim was gone; nothing changed`,
      );
      output.document({ event: 'superseded', at, ...ident(job), outcome });
    },
    released: ({ at, job }) => {
      say(output, at, 'release', `${name(job)}: the attempt was given back`);
      output.document({ event: 'released', at, ...ident(job) });
    },
    reaped: ({ at, job, why }) => {
      say(
        output,
        at,
        'reap',
        `${name(job)}: ${visible(headline(job.last_error ?? ''))} → ${job.status}`,
      );
      output.document({ event: 'reaped', at, ...ident(job), why, status: job.status });
    },
    drained: ({ at, counts }) => {
      const parts = Object.entries(counts).filter(([, count]) => count > 0);
      const text = parts.map(([what, count]) => `${count} ${what}`).join(', ');
      if (!output.quiet && parts.length > 0) say(output, at, 'drained', text);
      output.document({ event: 'drained', at, ...counts });
    },
    clock: ({ at, offsetMs }) => {
      if (!output.quiet) say(output, at, 'clock', `${formatDuration(offsetMs)} ahead`);
      output.document({ event: 'clock', at, offset_ms: offsetMs });
    },
    paused: ({ at, paused }) => {
      if (!output.quiet) say(output, at, paused ? 'pause' : 'resume', 'the schedule, by hand');
      output.document({ event: 'paused', at, paused });
    },
    sandbox: ({ at, provider, description, isolation }) => {
      if (!output.quiet) say(output, at, 'sandbox', `${description}, from the next attempt on`);
      output.document({ event: 'sandbox', at, provider, description, isolation });
    },
    database: ({ at, reachable, message }) => {
      if (reachable) output.note(visible(message));
      else output.warn(visible(message));
      output.document({ event: 'database', at, reachable, message });
    },
    warning: ({ message }) => output.warn(visible(message)),
  };
  const bound = Object.entries(printers) as [keyof EventMap, (...args: unknown[]) => void][];
  for (const [event, print] of bound) events.on(event, print);
  return () => {
    for (const [event, print] of bound) events.off(event, print);
  };
}

const TICKS = {
  schedule: 'on schedule',
  'catch-up': 'catching up',
  'by hand': 'by hand',
  insert: 'for an insert',
};

function say(output: Output, at: Date, word: string, text: string, plain = word): void {
  const pad = ' '.repeat(Math.max(1, 8 - plain.length));
  output.line(`${timeOfDay(at)} ${word}${pad}${text}`);
}

/** This machine's local time, `hh:mm:ss`: what the clock on the wall says. */
function timeOfDay(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

function name(job: Job): string {
  return `job ${job.id} ${shownKind(job.kind)}`;
}

function nth(job: Job): string {
  return `${job.attempts} of ${job.max_attempts}`;
}

function ident(job: Job) {
  return { id: job.id, kind: job.kind, attempt: job.attempts, max_attempts: job.max_attempts };
}
