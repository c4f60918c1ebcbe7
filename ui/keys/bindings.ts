/** Every key. The help, the footer and what a key does read this. */
import type { State } from '../store/state.js';
import { type Binding, inJob } from './binding.js';
import { JOB_VERBS } from './job-verbs.js';
import { MOVES } from './moves.js';
import { QUEUE_VERBS } from './queue-verbs.js';

const PROGRAM: Binding[] = [
  {
    keys: ['?'],
    shown: '?',
    label: 'keys',
    help: 'these keys',
    run: ({ store }) => store.update((state) => ({ ...state, help: 0 }), 'now'),
  },
  {
    keys: ['ctrl+l'],
    shown: '^L',
    help: 'draw the screen again',
    run: ({ host }) => host.redraw(),
  },
  {
    keys: ['q', 'ctrl+c'],
    shown: 'q',
    label: 'quit',
    help: 'quit; twice: at once',
    run: ({ host }) => host.quit(),
  },
];

/** The groups of the help, in its order. */
export const GROUPS = {
  acting: [...QUEUE_VERBS, ...JOB_VERBS],
  moving: MOVES,
  program: PROGRAM,
} as const;

/** In the order in which a key is looked for. */
export const BINDINGS: readonly Binding[] = [...MOVES, ...QUEUE_VERBS, ...JOB_VERBS, ...PROGRAM];

/** What the footer offers here, the most useful first. */
export function offered(state: State): Binding[] {
  const onJobs = inJob(state) || state.tab !== 'live';
  const verbs = onJobs ? [...JOB_VERBS, ...QUEUE_VERBS] : [...QUEUE_VERBS, ...JOB_VERBS];
  return [...verbs, ...MOVES].filter(
    (binding) => binding.label !== undefined && (binding.when?.(state) ?? true),
  );
}
