import { type AnyPiece, bold, dim, fit, text } from '../text/pieces.js';
import type { Binding } from './binding.js';
import { GROUPS } from './bindings.js';

/** From this width on there are two columns, and from that one on the commands beside the keys. */
const TWO_COLUMNS = 76;
const WITH_COMMANDS = 110;
const KEY_COLUMNS = 10;
const HELP_COLUMNS = 36;
const RIGHT_COLUMNS = 37;

/** The text of the help. */
export function helpLines(width: number): AnyPiece[][] {
  const { acting, moving, program } = GROUPS;
  if (width < TWO_COLUMNS) {
    return [
      ...group('Acting', acting, width, false),
      [],
      ...group('Moving', moving, width, false),
      [],
      ...group('Program', program, width, false),
    ];
  }
  const leftWidth = width - RIGHT_COLUMNS;
  const left = group('Acting', acting, leftWidth, width >= WITH_COMMANDS);
  const right = [
    ...group('Moving', moving, RIGHT_COLUMNS, false),
    [],
    ...group('Program', program, RIGHT_COLUMNS, false),
  ];
  const length = Math.max(left.length, right.length);
  return Array.from({ length }, (_, index) => [
    ...fit(left[index] ?? [], leftWidth),
    ...(right[index] ?? []),
  ]);
}

function group(
  title: string,
  bindings: readonly Binding[],
  width: number,
  withCommands: boolean,
): AnyPiece[][] {
  const lines = bindings
    .filter(({ help }) => help !== undefined)
    .map(({ shown, help = '', command }): AnyPiece[] => [
      text(' '),
      ...fit([bold(shown, 'info')], KEY_COLUMNS),
      ...(withCommands && command !== undefined
        ? [...fit([text(help)], HELP_COLUMNS), dim(command)]
        : [text(help)]),
    ]);
  const heading = [...fit([bold(` ${title}`)], HELP_COLUMNS + KEY_COLUMNS + 1), dim('jobq-dev …')];
  return [withCommands ? heading : [bold(` ${title}`)], ...lines].map((line) => fit(line, width));
}
