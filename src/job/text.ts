/** Text that came from outside: how it is stored, cut and shown. */
import { stripVTControlCharacters } from 'node:util';

/**
 * Text that any Postgres column takes: well-formed Unicode without NUL. A NUL becomes U+2400, a
 * lone surrogate U+FFFD, so a person still sees that something was there.
 */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u2400');
}

/** The last `count` characters (code points), a leading `…` in place of what was cut. */
export function tail(text: string, count: number): string {
  // A code point takes at most two UTF-16 units: cutting there first keeps megabytes cheap.
  const near = text.slice(-2 * count - 1);
  const points = Array.from(near);
  if (points.length <= count && near.length === text.length) return text;
  return `…${points.slice(points.length - count + 1).join('')}`;
}

/** The first `count` characters (code points), a trailing `…` in place of what was cut. */
export function head(text: string, count: number): string {
  const near = text.slice(0, 2 * count + 1);
  const points = Array.from(near);
  if (points.length <= count && near.length === text.length) return text;
  return `${points.slice(0, count - 1).join('')}…`;
}

/** The first line with something on it, cut to `count` characters. */
export function firstLine(text: string, count = 200): string {
  const line = text.split(/[\r\n]+/).find((part) => part.trim() !== '') ?? '';
  return head(line.trim(), count);
}

/** Of text that goes on, the part that its last line is looked for in, in characters. */
const NEAR_END = 4_096;

/**
 * The last line with something on it as a terminal would leave it, cut to `count` characters: of a
 * progress line that is written over, what was written last; without colours and other sequences.
 */
export function lastLine(text: string, count = 200): string {
  const lines = stripVTControlCharacters(text.slice(-NEAR_END)).split(/[\r\n]+/);
  return head(visible(lines.findLast((line) => line.trim() !== '')?.trim() ?? ''), count);
}

/**
 * The line of an error that says what is wrong. Python puts it last, below the trace; node puts it
 * below the source line that threw; everyone else writes it first.
 */
export function headline(error: string, count = 200): string {
  const lines = error.split(/[\r\n]+/).filter((part) => part.trim() !== '');
  // A long trace may have lost its first line: what is stored is the tail.
  if (
    lines.some((line) => /^Traceback \(most recent call last\)|^ {2}File ".*", line \d/.test(line))
  ) {
    return firstLine(lines.findLast((line) => /^\S/.test(line)) ?? '', count);
  }
  const thrown = lines.find((line) => /^(Uncaught )?[A-Z]\w*(Error|Exception)\b/.test(line));
  return firstLine(thrown ?? lines[0] ?? '', count);
}

// C0 and C1 controls, DEL; line and paragraph separators; bidi marks, embeddings, overrides and
// isolates; zero-width no-break space and interlinear marks. Each can move what a terminal shows.
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udfff]/gu;

/**
 * Text that cannot touch a terminal or forge a log line: control characters, newlines and bidi
 * marks are shown as escapes (`\n`, `\x1b`, `\u202e`).
 */
export function visible(text: string): string {
  return text.replace(UNSAFE, (char) => {
    const code = char.codePointAt(0)!;
    if (char === '\n') return '\\n';
    if (char === '\r') return '\\r';
    if (char === '\t') return '\\t';
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** A kind in a line of text: nothing in it moves a terminal, and it never pushes the rest out. */
export function shownKind(kind: string): string {
  return head(visible(kind), 100);
}

/** As `visible`, for text of several lines: newlines and tabs stay. */
export function visibleLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n');
}

/** `1 job`, `2 jobs`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
