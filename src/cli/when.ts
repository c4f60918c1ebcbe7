import { ask, type Send } from '../api/client.js';
import type { Info } from '../api/contract.js';
import { JobqError } from '../errors.js';
import { parseDuration } from '../job/duration.js';

/**
 * A moment to come as people give it: `5m` from now, or an ISO 8601 time.
 * @throws JobqError `usage`
 */
export function parseWhen(text: string, flag: string, now = new Date()): Date {
  return moment(text, flag, (ms) => now.getTime() + ms, 'how long from now');
}

/**
 * A moment that is past as people give it: `5m` ago, or an ISO 8601 time.
 * @throws JobqError `usage`
 */
export function parsePast(text: string, flag: string, now = new Date()): Date {
  return moment(text, flag, (ms) => now.getTime() - ms, 'how long ago');
}

function moment(text: string, flag: string, at: (ms: number) => number, words: string): Date {
  const ms = parseDuration(text);
  if (ms !== undefined) return new Date(at(ms));
  const instant = isInstant(text) ? new Date(text) : new Date(Number.NaN);
  if (!Number.isNaN(instant.getTime())) return instant;
  throw new JobqError(
    'usage',
    `${flag} is ${JSON.stringify(text)}, which is neither a duration nor a time`,
    `Say ${words} ("90s", "5m", "2h"), or when ("2026-03-01T09:00:00Z").`,
  );
}

/**
 * As `parseWhen`, where the queue is: a duration counts from its clock, which may be ahead of this
 * machine's.
 * @throws JobqError `usage`
 */
export async function parseWhenThere(send: Send, text: string, flag: string): Promise<Date> {
  if (parseDuration(text) === undefined) return parseWhen(text, flag);
  const { now } = JSON.parse(await ask(send, 'GET', '/info')) as Pick<Info, 'now'>;
  return parseWhen(text, flag, new Date(now));
}

const INSTANT = /^(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** Whether the text is an ISO time, of a day that there is; `Date` reads 30 February as 2 March. */
function isInstant(text: string): boolean {
  const [, day] = INSTANT.exec(text) ?? [];
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day!);
}

/** @throws JobqError `usage` */
export function parseCount(text: string, flag: string, least = 1, most = 100_000): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new JobqError(
    'usage',
    `${flag} is ${JSON.stringify(text)}: it must be a whole number from ${least} to ${most}`,
    `For example ${flag} ${Math.max(least, 3)}.`,
  );
}
