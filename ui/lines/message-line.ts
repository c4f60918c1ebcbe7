import { displayWidth } from '../../src/columns.js';
import type { ChoicePrompt, TextPrompt } from '../store/prompt.js';
import type { State, Toast } from '../store/state.js';
import { type AnyPiece, bold, dim, type Piece, type Tone, text } from '../text/pieces.js';
import { plain } from '../text/plain.js';

/** The most important that there is to say: a question, what stops, a message, what is wrong. */
export function messageLine(state: State): AnyPiece[] | undefined {
  const { prompt, stopping, toast, trouble, link, place } = state;
  if (prompt !== undefined) {
    return prompt.type === 'text' ? question(prompt, state.columns) : choices(prompt);
  }
  if (stopping !== undefined) return said('warn', stopping);
  if (toast !== undefined) return toastLine(toast);
  if (link === 'lost') return said('bad', `${plain(place)} is not heard; waiting for it`, trouble);
  if (trouble !== undefined) return said('bad', trouble);
  return undefined;
}

const TOAST_TONES: Record<Toast['tone'], Tone> = { ok: 'ok', bad: 'bad', info: 'info' };
const MARKS: Partial<Record<Tone, string>> = { ok: '✓', bad: '✗', warn: '!', info: '…' };

function toastLine(toast: Toast): AnyPiece[] {
  return said(TOAST_TONES[toast.tone], toast.text, toast.hint);
}

function said(tone: Tone, what: string, hint?: string): AnyPiece[] {
  return [
    text(` ${MARKS[tone] ?? ''} `, tone),
    text(what),
    ...(hint === undefined ? [] : [dim(`  ${hint}`)]),
  ];
}

/** A text being typed, with its cursor; of a long one the end around the cursor. */
function question(prompt: TextPrompt, columns: number): AnyPiece[] {
  const { label, value, cursor, placeholder, error } = prompt;
  const start: Piece[] = [bold(` ${label} `, 'info')];
  const end: Piece[] = error === undefined ? [] : [text('  '), text(plain(error), 'bad')];
  if (value === '') return [...start, { text: ' ', inverse: true }, dim(` ${placeholder}`), ...end];
  const before = plain(value.slice(0, cursor));
  const under = plain([...value.slice(cursor)][0] ?? ' ');
  const after = plain([...value.slice(cursor)].slice(1).join(''));
  const room = Math.max(
    4,
    columns -
      displayWidth(label) -
      4 -
      (error === undefined ? 0 : Math.min(40, displayWidth(error) + 2)),
  );
  return [
    ...start,
    text(lastColumns(before, room)),
    { text: under, inverse: true },
    text(after),
    ...end,
  ];
}

function lastColumns(value: string, room: number): string {
  if (displayWidth(value) <= room) return value;
  const characters = [...value];
  while (displayWidth(characters.join('')) >= room) characters.shift();
  return `…${characters.join('')}`;
}

function choices({ label, choices: offered, selected }: ChoicePrompt): AnyPiece[] {
  return [
    bold(` ${label} `, 'info'),
    ...offered.flatMap((choice, index): AnyPiece[] => [
      text(' '),
      { text: ` ${choice.key} ${choice.label} `, inverse: index === selected },
    ]),
  ];
}
