/** The text of a job's view: every line of the chosen tab, in the columns there are. */
import type { JobTab, JobView } from '../store/state.js';
import { type AnyPiece, type Block, dim, isTimed } from '../text/pieces.js';
import { attemptsDocument } from './attempts-document.js';
import { lineageDocument } from './lineage-document.js';
import { outputDocument } from './output-document.js';
import { payloadDocument } from './payload-document.js';

const DOCUMENTS: Record<JobTab, (view: JobView, width: number) => Block> = {
  output: outputDocument,
  payload: payloadDocument,
  attempts: attemptsDocument,
  lineage: lineageDocument,
};

let last: { of: unknown[]; document: Block } | undefined;

/** Kept until something of it changes: a megabyte of output is laid out once, not every frame. */
export function documentOf(view: JobView, width: number): Block {
  const of = [view.job, view.relatives, view.tab, width];
  if (last?.of.every((part, index) => part === of[index])) return last.document;
  const document = view.job === undefined ? [[dim(' …')]] : DOCUMENTS[view.tab](view, width);
  last = { of, document };
  return document;
}

/** The lines that hold what is searched for, in either case. */
export function matches(document: Block, search: string): number[] {
  if (search === '') return [];
  const wanted = search.toLowerCase();
  return [...document.keys()].filter((index) =>
    lineText(document[index]!).toLowerCase().includes(wanted),
  );
}

function lineText(line: readonly AnyPiece[]): string {
  return line.map((piece) => (isTimed(piece) ? '' : piece.text)).join('');
}

/** The first line in view. */
export function topOf({ scroll }: JobView, length: number, height: number): number {
  const lowest = Math.max(0, length - height);
  return scroll === 'end' ? lowest : Math.max(0, Math.min(scroll, lowest));
}
