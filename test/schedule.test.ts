import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobqError } from '#src/errors.js';
import { createSchedule } from '#src/schedule.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const at = (iso: string) => Date.parse(iso);

/** Every slot after `from` up to and with `to`, as UTC times to the minute. */
function slots(expression: string, timezone: string, from: string, to: string): string[] {
  return walk(expression, timezone, at(from), at(to)).map((slot) => iso(slot));
}

function walk(expression: string, timezone: string, from: number, to: number): number[] {
  const schedule = createSchedule(expression, timezone);
  const found: number[] = [];
  let slot = schedule.next(new Date(from))?.getTime();
  while (slot !== undefined && slot <= to) {
    found.push(slot);
    slot = schedule.next(new Date(slot))?.getTime();
  }
  return found;
}

function iso(ms: number): string {
  return new Date(ms).toISOString().replace(/(:00)?\.000Z$/, 'Z');
}

/** The first slot after a moment. */
function next(expression: string, timezone: string, after: string): string | undefined {
  const slot = createSchedule(expression, timezone).next(new Date(after));
  return slot && iso(slot.getTime());
}

/** The fields of a local time. */
interface Local {
  minute: number;
  hour: number;
  day: number;
  month: number;
  weekday: number;
  /** As if it were UTC. */
  asUtc: number;
}

/** Local times by `Intl` alone; the offset is asked for once a quarter of an hour. */
function localClock(timeZone: string): (ms: number) => Local {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  let quarter = Number.NaN;
  let offset = 0;
  return (ms) => {
    if (Math.floor(ms / (15 * MINUTE)) !== quarter) {
      quarter = Math.floor(ms / (15 * MINUTE));
      const [day, month, year, hour, minute, second] = format.format(ms).match(/\d+/g)!.map(Number);
      offset = Date.UTC(year!, month! - 1, day, hour, minute, second) - ms;
    }
    const date = new Date(ms + offset);
    return {
      minute: date.getUTCMinutes(),
      hour: date.getUTCHours(),
      day: date.getUTCDate(),
      month: date.getUTCMonth() + 1,
      weekday: date.getUTCDay(),
      asUtc: ms + offset,
    };
  };
}

/** The slots of each rule that stepping minute by minute finds. */
function oracle(rules: readonly Rule[], timezone: string, from: number, to: number): number[][] {
  const local = localClock(timezone);
  const found = rules.map((): number[] => []);
  let latest = Number.NEGATIVE_INFINITY;
  for (let ms = from - DAY; ms <= to; ms += MINUTE) {
    const fields = local(ms);
    const again = fields.asUtc <= latest;
    latest = Math.max(latest, fields.asUtc);
    if (ms <= from) continue;
    for (const [index, [, matches]] of rules.entries()) {
      if (matches(fields, again)) found[index]!.push(ms);
    }
  }
  return found;
}

/** Whether the schedule fires as the oracle says, for each rule. */
function compare(rules: readonly Rule[], timezone: string, from: number, to: number): void {
  const expected = oracle(rules, timezone, from, to);
  for (const [index, [expression]] of rules.entries()) {
    const found = walk(expression, timezone, from, to);
    expect([expression, ...found.map(iso)]).toEqual([expression, ...expected[index]!.map(iso)]);
  }
}

/** `again`: the same local time was there before. */
type Rule = [expression: string, matches: (local: Local, again: boolean) => boolean];

const SPARSE: Rule[] = [
  ['30 2 * * *', ({ minute, hour }, again) => minute === 30 && hour === 2 && !again],
  ['0 0 * * 1', ({ minute, hour, weekday }) => minute === 0 && hour === 0 && weekday === 1],
  [
    '15 0-3 1,8 * *',
    (l, again) => l.minute === 15 && l.hour < 4 && [1, 8].includes(l.day) && !again,
  ],
  ['45 23 29 2 *', (l) => l.minute === 45 && l.hour === 23 && l.day === 29 && l.month === 2],
  [
    '0 1 13 * 5',
    (l, again) => l.minute === 0 && l.hour === 1 && (l.day === 13 || l.weekday === 5) && !again,
  ],
];

const DENSE: Rule[] = [
  ['30 2 * * *', ({ minute, hour }, again) => minute === 30 && hour === 2 && !again],
  ['* * * * *', () => true],
  ['*/7 * * * *', ({ minute }) => minute % 7 === 0],
  ['50 * * * *', ({ minute }) => minute === 50],
  ['*/10 1-3 * * *', (l, again) => l.minute % 10 === 0 && l.hour >= 1 && l.hour <= 3 && !again],
  ['5 0,23 * * *', (l, again) => l.minute === 5 && [0, 23].includes(l.hour) && !again],
];

/** Zones that change their clock in many ways, and a year in which they did. */
const ZONES: [timezone: string, year: number, what: string, twoYears?: true][] = [
  ['America/Los_Angeles', 2021, 'an hour, at 2:00', true],
  ['America/New_York', 2026, 'an hour, at 2:00'],
  ['Europe/Berlin', 2026, 'an hour, at 1:00 UTC'],
  ['America/Santiago', 2025, 'an hour, at midnight'],
  ['Australia/Lord_Howe', 2026, 'half an hour', true],
  ['America/St_Johns', 2026, 'an hour, from UTC−3:30'],
  ['Antarctica/Troll', 2026, 'two hours'],
  ['Antarctica/Casey', 2020, 'three hours, for good'],
  ['Pacific/Apia', 2011, 'a whole day left out'],
  ['Asia/Kathmandu', 2026, 'nothing, UTC+5:45'],
  ['UTC', 2026, 'nothing'],
];

/** When a zone's offset changes in the two years from the start of `year`, to the hour. */
function changes(timezone: string, year: number): number[] {
  const local = localClock(timezone);
  const found: number[] = [];
  const offset = (ms: number) => local(ms).asUtc - ms;
  for (let ms = Date.UTC(year, 0); ms < Date.UTC(year + 2, 0); ms += HOUR) {
    if (offset(ms) !== offset(ms - HOUR)) found.push(ms);
  }
  return found;
}

describe('the schedule', () => {
  it.each(ZONES.filter(([, , , twoYears]) => twoYears))(
    'fires when stepping minute by minute through two years says so, in %s from %i on',
    (timezone, year) => {
      compare(SPARSE, timezone, Date.UTC(year, 0), Date.UTC(year + 2, 0));
    },
  );

  it.each(ZONES)(
    'does so around each change of the clock in %s from %i on: %s',
    (timezone, year) => {
      const found = changes(timezone, year);
      for (const change of found.length > 0 ? found : [Date.UTC(year, 5)]) {
        compare(DENSE, timezone, change - 16 * HOUR, change + 16 * HOUR);
      }
    },
  );

  it('fires every minute of real time through the end of daylight saving (node-cron 563)', () => {
    const found = walk(
      '* * * * *',
      'America/Los_Angeles',
      at('2021-11-07T07:00:00Z'),
      at('2021-11-07T12:00:00Z'),
    );
    expect(found).toHaveLength(5 * 60);
    expect(new Set(found.map((slot, index) => slot - (found[index - 1] ?? slot - MINUTE)))).toEqual(
      new Set([MINUTE]),
    );
  });

  it.each([
    [
      'leaves out a time that the clock skips',
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00Z',
      ['2026-03-09T06:30Z'],
    ],
    [
      'fires once at a time that comes twice',
      '30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00Z',
      ['2026-11-01T05:30Z', '2026-11-02T06:30Z'],
    ],
    [
      'fires at both passes when every hour matches',
      '30 * * * *',
      'America/New_York',
      '2026-11-01T05:00Z',
      ['2026-11-01T05:30Z', '2026-11-01T06:30Z', '2026-11-01T07:30Z'],
    ],
    [
      'leaves out Berlin’s skipped hour',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00Z',
      ['2026-03-30T00:30Z'],
    ],
    [
      'fires once in Berlin’s doubled hour',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    ],
    [
      'fires once in Lord Howe’s doubled half hour',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2026-04-04T00:00Z',
      ['2026-04-04T14:45Z', '2026-04-05T15:15Z'],
    ],
    [
      'leaves out Lord Howe’s skipped half hour',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T00:00Z',
      ['2026-10-04T15:15Z'],
    ],
    [
      'fires at midnight’s next pass where midnight is skipped',
      '0 0 * * *',
      'America/Santiago',
      '2026-09-05T12:00Z',
      ['2026-09-07T03:00Z'],
    ],
    [
      'leaves out Samoa’s missing day',
      '0 9 * * *',
      'Pacific/Apia',
      '2011-12-28T20:00Z',
      ['2011-12-29T19:00Z', '2011-12-30T19:00Z'],
    ],
    [
      'finds a day’s first hour when the day before lost two',
      '30 0 30 3 *',
      'Antarctica/Troll',
      '2026-03-29T00:00Z',
      ['2026-03-29T22:30Z'],
    ],
    [
      'finds a day’s first hour when the day before lost three',
      '30 0 5 10 *',
      'Antarctica/Casey',
      '2020-10-03T16:00Z',
      ['2020-10-04T13:30Z'],
    ],
    [
      'fires once where the clock goes back three hours',
      '30 22 * * *',
      'Antarctica/Casey',
      '2021-03-13T00:00Z',
      ['2021-03-13T11:30Z', '2021-03-14T14:30Z'],
    ],
  ])('%s', (_rule, expression, timezone, from, expected) => {
    const schedule = createSchedule(expression, timezone);
    const found: string[] = [];
    let after = new Date(from);
    for (let count = 0; count < expected.length; count += 1) {
      after = schedule.next(after)!;
      found.push(iso(after.getTime()));
    }
    expect(found).toEqual(expected);
  });

  it.each([
    ['*/20 * * * * *', '2026-01-01T00:00:20Z'],
    ['59 59 23 * * *', '2026-01-01T23:59:59Z'],
    ['* * * * * 1', '2026-01-05T00:00Z'],
    ['@hourly', '2026-01-01T01:00Z'],
    ['@daily', '2026-01-02T00:00Z'],
    ['@weekly', '2026-01-04T00:00Z'],
    ['@monthly', '2026-02-01T00:00Z'],
    ['@yearly', '2027-01-01T00:00Z'],
    ['0 12 * jan,feb mon-fri', '2026-01-01T12:00Z'],
    ['0 0 * * 7', '2026-01-04T00:00Z'],
    ['0 0 L * *', '2026-01-31T00:00Z'],
    ['0 0 L-2 * *', '2026-01-29T00:00Z'],
    ['0 0 LW * *', '2026-01-30T00:00Z'],
    ['0 0 17W * *', '2026-01-16T00:00Z'],
    ['0 0 * * 5#2', '2026-01-09T00:00Z'],
    ['0 0 * * 5L', '2026-01-30T00:00Z'],
    ['0 0 ? * 1', '2026-01-05T00:00Z'],
    ['0 22-2 * * *', '2026-01-01T01:00Z'],
    ['  5  0 * * * ', '2026-01-01T00:05Z'],
    ['0 0 29 2 *', '2028-02-29T00:00Z'],
    ['0 0 13 * 5', '2026-01-02T00:00Z'],
    ['0 0 13 * *', '2026-01-13T00:00Z'],
  ])('%j fires first at %s after New Year 2026', (expression, expected) => {
    expect(next(expression, 'UTC', '2026-01-01T00:00:00Z')).toBe(expected);
  });

  it('fires on a day that matches the day of the month or the weekday, when both are restricted', () => {
    expect(slots('0 0 13 * 5', 'UTC', '2026-02-01T00:00Z', '2026-03-01T00:00Z')).toEqual([
      '2026-02-06T00:00Z',
      '2026-02-13T00:00Z',
      '2026-02-20T00:00Z',
      '2026-02-27T00:00Z',
    ]);
    // crontab(5): a field that starts with * does not restrict, a step included.
    expect(slots('0 0 */10 * 5', 'UTC', '2026-05-01T00:00Z', '2026-07-01T00:00Z')).toEqual([]);
  });

  it('finds the leap day in a century that leaves one out', () => {
    expect(next('0 0 29 2 *', 'Europe/Berlin', '2096-03-01T00:00Z')).toBe('2104-02-28T23:00Z');
  });

  it.each(['0 0 31W 2 *', '* * * 31W 2 *'])(
    'has no slot for %j, and says so soon',
    (expression) => {
      const startedAt = performance.now();
      expect(next(expression, 'Europe/Berlin', '2026-01-01T00:00:00Z')).toBeUndefined();
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    },
  );

  it('is later than the moment it is asked for, to the millisecond', () => {
    const midnight = at('2026-01-02T00:00:00Z');
    const daily = createSchedule('0 0 * * *', 'UTC');
    expect(daily.next(new Date(midnight - 1))?.getTime()).toBe(midnight);
    expect(daily.next(new Date(midnight))?.getTime()).toBe(midnight + DAY);
    expect(daily.next(new Date(midnight + 1))?.getTime()).toBe(midnight + DAY);
  });

  it('has one next slot: asked at any moment before it, the answer is the same', () => {
    const moment = fc.date({
      min: new Date('2020-01-01T00:00Z'),
      max: new Date('2035-01-01T00:00Z'),
      noInvalidDate: true,
    });
    const expression = fc.constantFrom('*/5 * * * *', '30 1 * * *', '0 9 * * 1-5', '10 30 2 * * *');
    const timezone = fc.constantFrom(...ZONES.map(([name]) => name));
    fc.assert(
      fc.property(
        moment,
        expression,
        timezone,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (from, text, zone, part) => {
          const schedule = createSchedule(text, zone);
          const slot = schedule.next(from)!;
          expect(slot.getTime()).toBeGreaterThan(from.getTime());
          const between = from.getTime() + Math.floor((slot.getTime() - 1 - from.getTime()) * part);
          expect(schedule.next(new Date(between))).toEqual(slot);
        },
      ),
    );
  });

  it.each([
    ['', /expression/],
    ['* * * *', /expected 5 or 6 fields but got 4/],
    ['* * * * * * *', /got 7/],
    ['60 * * * *', /minute: 60/],
    ['* 24 * * *', /hour: 24/],
    ['* * 0 * *', /dayOfMonth: 0/],
    ['* * 32 * *', /dayOfMonth: 32/],
    ['* * * 13 *', /month: 13/],
    ['* * * * 8', /dayOfWeek: 8/],
    ['*/0 * * * *', /minute: \*\/0/],
    ['-1 * * * *', /minute: -1/],
    ['a * * * *', /minute: a/],
    ['@reboot', /illegal/],
    ['* * * *\n*', /illegal/],
    ['0 0 30 2 *', /dayOfMonth: 30 2 is an impossible day/],
  ])('refuses %j, naming the field', (expression, reason) => {
    let error: unknown;
    try {
      createSchedule(expression, 'UTC');
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(JobqError);
    expect(error).toMatchObject({
      code: 'config',
      exitStatus: 2,
      hint: expect.stringMatching(/--cron/),
    });
    expect((error as Error).message).toContain(JSON.stringify(expression));
    expect((error as Error).message).toMatch(reason);
  });

  it.each(['', 'Mars/Olympus', 'Europe/Berlinn', '../UTC', 'EST5EDT4'])(
    'refuses the time zone %j',
    (timezone) => {
      expect(() => createSchedule('* * * * *', timezone)).toThrow(
        expect.objectContaining({
          code: 'config',
          message: `there is no time zone ${JSON.stringify(timezone)}`,
          hint: expect.stringMatching(/--timezone/),
        }),
      );
    },
  );
});
