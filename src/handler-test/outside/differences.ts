/** How two ends of the outside world differ, in words and as diffs. */
import { createTwoFilesPatch } from 'diff';
import type { Files } from './files.js';
import { type Effect, effects, type SentRequest } from './requests.js';
import type { Rows } from './rows.js';

/** The outside world at some moment. */
export interface OutsideState {
  files: Files;
  requests: readonly SentRequest[];
  rows: Rows;
}

/** One thing that is not as it should be. */
export interface Difference {
  what:
    | 'file-changed'
    | 'file-added'
    | 'file-missing'
    | 'request-repeated'
    | 'request-changed'
    | 'request-added'
    | 'request-missing'
    | 'row-changed';
  /** The file, the request or the table that differs. */
  where: string;
  /** One line. */
  message: string;
  /** Unified diff, where there is something to compare. */
  diff?: string;
}

/** Lines of a diff that are kept. */
const DIFF_LINES = 60;

/** Compares what is with what should be. */
export function differences(expected: OutsideState, actual: OutsideState): Difference[] {
  return [
    ...fileDifferences(expected.files, actual.files),
    ...requestDifferences(effects(expected.requests), effects(actual.requests)),
    ...rowDifferences(expected.rows, actual.rows),
  ];
}

/** Those that `control`, another run of the same, does not show as well: nobody's fault but chance's. */
export function beyond(found: readonly Difference[], control: readonly Difference[]): Difference[] {
  const chance = new Set(control.map(({ what, where }) => `${what} ${where}`));
  return found.filter(({ what, where }) => !chance.has(`${what} ${where}`));
}

function fileDifferences(expected: Files, actual: Files): Difference[] {
  const found: Difference[] = [];
  for (const [name, before] of expected) {
    const now = actual.get(name);
    if (now === undefined) {
      found.push({ what: 'file-missing', where: name, message: `${name} is missing` });
    } else if (now !== before) {
      found.push({
        what: 'file-changed',
        where: name,
        message: `${name} differs`,
        diff: textDiff(name, before, now),
      });
    }
  }
  for (const [name, text] of actual) {
    if (expected.has(name)) continue;
    found.push({
      what: 'file-added',
      where: name,
      message: `there is a file more, ${name}`,
      diff: textDiff(name, '', text),
    });
  }
  return found;
}

function rowDifferences(expected: Rows, actual: Rows): Difference[] {
  const tables = new Set([...expected.keys(), ...actual.keys()]);
  return [...tables].flatMap((table): Difference[] => {
    const [before, now] = [expected.get(table) ?? '', actual.get(table) ?? ''];
    if (before === now) return [];
    return [
      {
        what: 'row-changed',
        where: table,
        message: `${table} has other rows`,
        diff: textDiff(table, before, now),
      },
    ];
  });
}

function requestDifferences(expected: readonly Effect[], actual: readonly Effect[]): Difference[] {
  const open = [...expected];
  const take = (fits: (effect: Effect) => boolean): Effect | undefined => {
    const index = open.findIndex(fits);
    return index < 0 ? undefined : open.splice(index, 1)[0];
  };
  const extra = actual.filter((effect) => take((other) => isSame(other, effect)) === undefined);
  const found: Difference[] = [];
  for (const effect of extra) {
    const meant = take((other) => other.target === effect.target);
    if (meant !== undefined) {
      found.push({
        what: 'request-changed',
        where: effect.target,
        message: `${effect.target} is sent with another body`,
        diff: textDiff('body', meant.body, effect.body),
      });
      continue;
    }
    const first = actual.find((other) => other !== effect && other.target === effect.target);
    found.push(first === undefined ? added(effect) : repeated(first, effect));
  }
  for (const effect of open) {
    found.push({
      what: 'request-missing',
      where: effect.target,
      message: `${effect.target} is not sent: that work is lost`,
    });
  }
  return found;
}

function isSame(a: Effect, b: Effect): boolean {
  const keyed = a.key !== undefined && b.key !== undefined;
  const unkeyed = a.key === undefined && b.key === undefined;
  return a.target === b.target && a.body === b.body && (keyed ? a.id === b.id : unkeyed);
}

function added(effect: Effect): Difference {
  return {
    what: 'request-added',
    where: effect.target,
    message: `${effect.target} is sent, which one clean run does not send`,
    ...(effect.body === '' ? {} : { diff: textDiff('body', '', effect.body) }),
  };
}

function repeated(first: Effect, again: Effect): Difference {
  const how =
    again.key === undefined
      ? 'without an idempotency key: the far side does it twice'
      : first.key !== again.key
        ? 'with another idempotency key: the far side does it twice'
        : 'with the same idempotency key and another body: the far side refuses it';
  const shown = ({ key, body }: Effect) => `key: ${key ?? 'none'}\n\n${body}`;
  return {
    what: 'request-repeated',
    where: again.target,
    message: `${again.target} is sent again ${how}`,
    ...(shown(first) === shown(again)
      ? {}
      : { diff: textDiff('request', shown(first), shown(again)) }),
  };
}

/** A unified diff of two texts. */
export function textDiff(name: string, before: string, now: string): string {
  const lines = createTwoFilesPatch(name, name, before, now, 'expected', 'found', { context: 3 })
    .split('\n')
    .filter((line) => !/^(={3,}|Index:|\\ No newline)/.test(line));
  const cut = lines.slice(0, DIFF_LINES);
  if (lines.length > DIFF_LINES) cut.push(`… ${lines.length - DIFF_LINES} lines more`);
  return cut.join('\n').trimEnd();
}
