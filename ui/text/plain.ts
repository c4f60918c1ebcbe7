import { stripVTControlCharacters } from 'node:util';
import { visible } from '../../src/job/text.js';

// Terminals disagree on how wide these make the emoji beside them: joiners, variation selectors,
// skin tones, the keycap. Without them every terminal counts the same columns.
const DISPUTED =
  /\p{Emoji_Modifier}|\p{Variation_Selector}|[\u200b-\u200d\u2060]|\u20e3|[\u{e0000}-\u{e0fff}]/gu;

/**
 * Text that somebody else wrote (a kind, a payload, an error), for one line of the screen: it
 * cannot move the cursor, forge a line or shift a column. Everything foreign goes through here.
 */
export function plain(text: string): string {
  return visible(text).replace(DISPUTED, '');
}

/**
 * As `plain`, for what a program wrote to its terminal: colours are left out, of a line that was
 * drawn over (a progress bar) the last state is left, tabs are spaces.
 */
export function plainOutput(line: string): string {
  const drawn = stripVTControlCharacters(line).replace(/\r+$/, '');
  return plain(drawn.slice(drawn.lastIndexOf('\r') + 1).replaceAll('\t', '    '));
}
