/**
 * `killed`: killed at several moments and delivered again, the job leaves the outside world as one
 * clean run does. The moments are right after each thing it does outside, and spread over its time.
 *
 * A kill never comes at exactly the moment between two writes to a file, so the states that such a
 * kill leaves are also laid out by hand: for each file that is written where it stands, empty and
 * half of it. A file that is renamed into its place is never seen so.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { plural } from '../../job/text.js';
import { deliver, type KillMoment, type OutsideEvent } from '../deliver.js';
import { allEnded } from '../lanes.js';
import { target } from '../outside/requests.js';
import type { Check, CheckContext, Finding } from './check.js';
import { recover } from './recovery.js';

/** How many moments of each sort are tried. */
const REQUESTS = 6;
const FILES = 4;
const WRITES = 4;
const SHARES = [0.25, 0.5, 0.75];
const TORN = [
  { share: 0, how: 'before anything was written to' },
  { share: 0.5, how: 'half way through' },
];

interface Trial {
  /** For people: `killed after 120 ms`. */
  when: string;
  run: () => Promise<Finding[]>;
}

export const killed: Check = async (context) => {
  const findings = new Map<string, Finding & { times: number }>();
  const notes: string[] = [];
  const trials = [...kills(context), ...tornStates(context)];
  const ends = await allEnded(trials.map(async ({ when, run }) => ({ when, found: await run() })));
  for (const { when, found } of ends) {
    notes.push(`${when}: ${found.length === 0 ? 'recovers' : 'differs'}`);
    for (const finding of found) {
      // The same thing after another kill is one fault, not two.
      const same = `${finding.fault} ${finding.message.slice(when.length)}`;
      const known = findings.get(same);
      if (known === undefined) findings.set(same, { ...finding, times: 1 });
      else known.times += 1;
    }
  }
  return {
    notes,
    findings: [...findings.values()].map(({ times, ...finding }) => ({
      ...finding,
      message:
        times === 1
          ? finding.message
          : `${finding.message} (and after ${plural(times - 1, 'other kill')})`,
    })),
  };
};

function kills(context: CheckContext): Trial[] {
  const { delivery, state } = context.baseline;
  const trials: Trial[] = [];
  const add = (attempt: number, moment: KillMoment, when: string) =>
    trials.push({ when, run: () => killAndRecover(context, attempt, moment, when) });

  for (const event of requestEvents(delivery.events).slice(0, REQUESTS)) {
    const sent = state.requests.filter(({ attempt }) => attempt === event.attempt)[event.nth - 1];
    if (sent === undefined) continue;
    const when = `killed when ${target(sent)} had arrived`;
    add(event.attempt, { at: 'request', nth: event.nth }, when);
  }
  const writes = delivery.events.filter((event) => event.what === 'write');
  for (const { attempt, nth } of writes.slice(0, WRITES)) {
    add(attempt, { at: 'write', nth }, `killed right after write ${nth} to the database`);
  }
  for (const { attempt, name } of firstTouches(delivery.events).slice(0, FILES)) {
    add(attempt, { at: 'file', name }, `killed when ${name} was touched`);
  }
  const { durationMs } = delivery.last;
  for (const share of SHARES) {
    const ms = Math.round(durationMs * share);
    add(delivery.attempts, { at: 'time', ms }, `killed after ${ms} ms`);
  }
  return trials;
}

async function killAndRecover(
  context: CheckContext,
  attempt: number,
  moment: KillMoment,
  when: string,
): Promise<Finding[]> {
  const { lab, testCase, farSide, baseline } = context;
  const outside = await lab.outside(baseline.outside.jobId);
  try {
    const delivery = await deliver(lab, testCase, outside, { farSide, kill: { attempt, moment } });
    return await recover(context, outside, delivery.attempts, when);
  } finally {
    await outside.remove();
  }
}

type RequestEvent = Extract<OutsideEvent, { what: 'request' }>;
type FileEvent = Extract<OutsideEvent, { what: 'file' }>;

function requestEvents(events: readonly OutsideEvent[]): RequestEvent[] {
  return events.filter((event): event is RequestEvent => event.what === 'request');
}

function firstTouches(events: readonly OutsideEvent[]): FileEvent[] {
  const files = events.filter((event): event is FileEvent => event.what === 'file');
  return files.filter(
    (event, index) => files.findIndex(({ name }) => name === event.name) === index,
  );
}

/**
 * Two trials for each file that is written where it stands: empty, and half of it. Not where rows
 * were written before, which cannot be laid out.
 */
function tornStates(context: CheckContext): Trial[] {
  const { touched, delivery } = context.baseline;
  const { events } = delivery;
  const firstWrite = events.findIndex(({ what }) => what === 'write');
  const inPlace = events
    .slice(0, firstWrite < 0 ? events.length : firstWrite)
    .filter((event): event is FileEvent => event.what === 'file' && event.how === 'change');
  const torn = firstTouches(inPlace).filter(({ name }) => (touched.get(name)?.length ?? 0) > 0);
  return torn.slice(0, FILES).flatMap((event) =>
    TORN.map(({ share, how }) => {
      const when = `killed ${how} ${event.name}`;
      return { when, run: () => recoverFromTorn(context, event, share, when) };
    }),
  );
}

/** Lays out what a kill in the middle of writing a file leaves, and delivers again. */
async function recoverFromTorn(
  context: CheckContext,
  { attempt, name }: FileEvent,
  share: number,
  when: string,
): Promise<Finding[]> {
  const { lab, baseline } = context;
  const { events } = baseline.delivery;
  const outside = await lab.outside(baseline.outside.jobId);
  try {
    const before = events.slice(
      0,
      events.findIndex((event) => isTouch(event, name)),
    );
    for (const [file, bytes] of baseline.touched) {
      if (before.some((event) => isTouch(event, file))) {
        await writeFile(path.join(outside.outputDir, file), bytes);
      }
    }
    const bytes = baseline.touched.get(name)!;
    await writeFile(
      path.join(outside.outputDir, name),
      bytes.subarray(0, Math.floor(bytes.length * share)),
    );
    // The far side knows what had been sent by then.
    outside.requests.push(...baseline.state.requests.slice(0, requestEvents(before).length));
    return await recover(context, outside, attempt, when);
  } finally {
    await outside.remove();
  }
}

function isTouch(event: OutsideEvent, name: string): boolean {
  return event.what === 'file' && event.name === name;
}
