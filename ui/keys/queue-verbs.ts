import { newJob } from '../actions/jobs.js';
import {
  createExamples,
  drain,
  fastForward,
  pause,
  replay,
  swapSandbox,
} from '../actions/queue.js';
import { lacksHandlers } from '../lines/teaching.js';
import { type Binding, searching } from './binding.js';

/** Keys that act on the queue as a whole. */
export const QUEUE_VERBS: Binding[] = [
  {
    keys: ['i'],
    shown: 'i',
    label: 'create examples',
    help: 'create the example handlers',
    command: 'init',
    when: lacksHandlers,
    run: createExamples,
  },
  {
    keys: ['d'],
    shown: 'd',
    label: 'drain',
    help: 'drain now: one tick by hand',
    command: 'drain',
    run: drain,
  },
  {
    keys: ['f'],
    shown: 'f',
    label: 'forward',
    help: 'fast-forward the clock',
    command: 'advance 5m',
    run: fastForward,
  },
  {
    keys: ['n'],
    shown: 'n',
    label: 'new',
    help: 'a new job',
    command: "enqueue KIND '{…}'",
    when: (state) => !searching(state),
    run: newJob,
  },
  {
    keys: ['b'],
    shown: 'b',
    label: 'burst',
    help: 'replay a burst, in real time',
    command: 'replay FILE --live',
    run: replay,
  },
  {
    keys: ['p'],
    shown: 'p',
    label: 'pause',
    help: 'pause the drainer, go on',
    command: 'pause, resume',
    run: pause,
  },
  {
    keys: ['s'],
    shown: 's',
    label: 'sandbox',
    help: 'swap the sandbox',
    command: 'sandbox use NAME',
    run: swapSandbox,
  },
];
