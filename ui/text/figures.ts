import { compactDuration } from '../../src/job/duration.js';

const WHOLE = new Intl.NumberFormat('en');

/** `1,204` */
export function figure(count: number): string {
  return WHOLE.format(count);
}

/** What two clocks may differ by before a countdown shows it. */
const SLACK_MS = 250;

/** Counts down in whole seconds: `42s`, `2m5s`, `now`. */
export function countdown(milliseconds: number, over = 'now'): string {
  const seconds = Math.ceil((milliseconds - SLACK_MS) / 1_000);
  return seconds <= 0 ? over : compactDuration(seconds * 1_000);
}

/** How long something has lasted, in whole seconds: `0s`, `42s`, `2m5s`. */
export function lasted(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  return seconds === 0 ? '0s' : compactDuration(seconds * 1_000);
}

/** `12 MiB` */
export function memory(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return `${mebibytes < 10 ? mebibytes.toFixed(1) : Math.round(mebibytes)} MiB`;
}

/** This machine's local time of an instant, `hh:mm:ss`: what the clock on the wall says. */
export function timeOfDay(instant: string | number): string {
  const at = new Date(instant);
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}
