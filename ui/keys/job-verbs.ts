import { copy } from '../actions/copy.js';
import { edit } from '../actions/edit.js';
import { cancel, retry, retryAll } from '../actions/jobs.js';
import type { Binding } from './binding.js';

/** Keys that act on the selected job. */
export const JOB_VERBS: Binding[] = [
  {
    keys: ['r'],
    shown: 'r',
    label: 'retry',
    help: 'retry; run one that waits now',
    command: 'jobs retry ID',
    run: retry,
  },
  {
    keys: ['R'],
    shown: 'R',
    help: 'retry every dead one of its kind',
    command: 'jobs retry --all --kind K',
    run: retryAll,
  },
  {
    keys: ['e'],
    shown: 'e',
    label: 'edit',
    help: 'edit in $EDITOR, run again',
    command: 'jobs edit ID --payload JSON',
    run: edit,
  },
  {
    keys: ['x'],
    shown: 'x',
    label: 'cancel',
    help: 'cancel: make it dead',
    command: 'jobs cancel ID',
    run: cancel,
  },
  {
    keys: ['c'],
    shown: 'c',
    label: 'copy',
    help: 'copy it as a command',
    run: copy,
  },
];
