/**
 * When the cron schedule fires, in a named time zone.
 *
 * node-cron reads the expression and says which instants match it. Which instant is next is worked
 * out here, for two reasons. Its own scheduler reads the machine's clock, and this emulator's clock
 * can be ahead of it. And across the end of daylight saving it leaves out the repeated hour:
 * `* * * * *` in Los Angeles on 2021-11-07 goes from 1:59 PDT to 2:00 PST (seen with 4.6.0; their
 * issue 563).
 *
 * Across a change: a local time that the clock skips does not fire; of a local time that comes
 * twice the second fires only when the schedule names no hours (every hour matches), since it then
 * follows real time. When both the day of the month and the weekday are restricted, a day that
 * matches either fires, as crontab(5) has it; node-cron by itself wants both.
 */
import cron from 'node-cron';
import { JobqError } from './errors.js';

const MINUTE = 60_000;
/** Zones change their offset only at multiples of this (since 1972). */
const BLOCK = 15 * MINUTE;
/** Looking back this far over a change of offset finds the offset before it. */
const DAY = 24 * 60 * MINUTE;
/** A leap day in a year that skips one (1896–1904, 2096–2104). */
const HORIZON_MS = 9 * 366 * DAY;

export interface Schedule {
  readonly expression: string;
  readonly timezone: string;
  /** The first slot later than `after`; undefined when there is none, as for 30 February. */
  next(after: Date): Date | undefined;
}

/**
 * @param expression five fields, or six with seconds first, or a nickname such as `@hourly`.
 * @param timezone an IANA name.
 * @throws JobqError `config`, naming the field.
 */
export function createSchedule(expression: string, timezone: string): Schedule {
  const local = localTime(timezone);
  const checked = cron.validateDetailed(expression);
  if (!checked.valid) {
    const why = checked.errors.map((error) => `${error.field}: ${error.message}`).join('; ');
    throw new JobqError(
      'config',
      `the cron schedule ${JSON.stringify(expression)} is wrong: ${why}`,
      'Five fields: minute hour day month weekday, e.g. --cron "*/5 * * * *".',
    );
  }
  const fields = cron.parse(expression);
  const tasks = dayPatterns(expression).map((pattern) =>
    cron.createTask(pattern, () => {}, { timezone, logger: SILENT }),
  );
  let lately = { day: Number.NaN, matches: false };
  const isDay = (at: number, asUtc: number) => {
    const day = Math.floor(asUtc / DAY);
    if (lately.day !== day) {
      lately = { day, matches: tasks.some((task) => task.match(new Date(at))) };
    }
    return lately.matches;
  };
  const hours = new Set(fields.hour);
  const months = new Set(fields.month);
  const seconds = [...fields.second].sort((a, b) => a - b);
  const minutes = new Set(fields.minute);
  const everyHour = hours.size === 24;

  /** The first slot in a block whose day and hour match. */
  function slotIn(blockStart: number, startMinute: number, afterMs: number): number | undefined {
    for (let minute = 0; minute < BLOCK / MINUTE; minute += 1) {
      if (!minutes.has(startMinute + minute)) continue;
      for (const second of seconds) {
        const slot = blockStart + minute * MINUTE + second * 1_000;
        if (slot > afterMs) return slot;
      }
    }
    return undefined;
  }

  return {
    expression,
    timezone,
    next(after) {
      const afterMs = after.getTime();
      let block = Math.floor(afterMs / BLOCK) * BLOCK;
      while (block < afterMs + HORIZON_MS) {
        const { month, hour, minute, asUtc } = local(block);
        const dayMatches = months.has(month) && isDay(block, asUtc);
        if (dayMatches && hours.has(hour) && (everyHour || !isRepeated(block, local))) {
          const slot = slotIn(block, minute, afterMs);
          if (slot !== undefined) return new Date(slot);
        }
        // A day that does not match is crossed to 20:00; no change of offset on the way takes that
        // beyond midnight (the largest in use is three hours, in Antarctica).
        block += dayMatches || hour >= 20 ? BLOCK : ((20 - hour) * 60 - minute) * MINUTE;
      }
      return undefined;
    },
  };
}

/**
 * The expression's days alone, any time of them: one pattern, or two when the day of the month and
 * the weekday are both restricted and either will do.
 */
function dayPatterns(expression: string): string[] {
  const given = expression.trim().split(/\s+/);
  // A nickname says at most one of the two.
  if (given.length < 5) {
    const { dayOfMonth, month, dayOfWeek } = cron.parse(expression);
    return [`* * ${dayOfMonth} ${month} ${dayOfWeek}`];
  }
  const [dayOfMonth, month, dayOfWeek] = given.slice(-3) as [string, string, string];
  return [dayOfMonth, dayOfWeek].some((field) => /^[*?]/.test(field))
    ? [`* * ${dayOfMonth} ${month} ${dayOfWeek}`]
    : [`* * ${dayOfMonth} ${month} *`, `* * * ${month} ${dayOfWeek}`];
}

/** node-cron warns through its logger, in colour even into a pipe; these tasks are never started. */
const SILENT = { info() {}, warn() {}, error() {}, debug() {} };

interface LocalTime {
  month: number;
  hour: number;
  minute: number;
  /** The local time as if it were UTC, in milliseconds. */
  asUtc: number;
}

function localTime(timezone: string): (at: number) => LocalTime {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    throw new JobqError(
      'config',
      `there is no time zone ${JSON.stringify(timezone)}`,
      'Use an IANA name, e.g. --timezone Europe/Berlin or --timezone UTC.',
    );
  }
  return (at) => {
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(at)) part[type] = Number(value);
    const { year, month, day, hour, minute, second } = part as Record<string, number>;
    return {
      month: month!,
      hour: hour!,
      minute: minute!,
      asUtc: Date.UTC(year!, month! - 1, day!, hour!, minute!, second!),
    };
  };
}

/** Whether the same local time was there before: the clock was set back in between. */
function isRepeated(at: number, local: (at: number) => LocalTime): boolean {
  const { asUtc } = local(at);
  const setBackBy = local(at - DAY).asUtc - (at - DAY) - (asUtc - at);
  return setBackBy > 0 && local(at - setBackBy).asUtc === asUtc;
}
