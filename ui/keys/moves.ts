import { find, nextStatus } from '../actions/filter.js';
import { back, moveBy, nextMatch, nextTab, openJob, openTab } from '../actions/navigate.js';
import type { Ui } from '../ui.js';
import { type Binding, inJob, searching } from './binding.js';

/** Keys that move. */
export const MOVES: Binding[] = [
  {
    keys: ['up', 'k'],
    shown: '↑↓ jk',
    help: 'up, down',
    run: (ui) => moveBy(ui, { rows: -1 }),
  },
  { keys: ['down', 'j'], shown: '↓', run: (ui) => moveBy(ui, { rows: 1 }) },
  {
    keys: ['pagedown', 'ctrl+f', ' '],
    shown: 'PgDn',
    run: (ui) => moveBy(ui, { screens: 1 }),
  },
  {
    keys: ['pageup', 'ctrl+b'],
    shown: 'PgUp PgDn',
    help: 'a screen up, down',
    run: (ui) => moveBy(ui, { screens: -1 }),
  },
  {
    keys: ['home', 'g'],
    shown: 'g G',
    help: 'to the top, to the end',
    run: (ui) => moveBy(ui, { end: -1 }),
  },
  { keys: ['end', 'G'], shown: 'G', run: (ui) => moveBy(ui, { end: 1 }) },
  ...['1', '2', '3', '4'].map((key, place) => ({
    keys: [key],
    shown: '1–4',
    ...(place === 0 && { help: 'a panel, or part of a job' }),
    run: (ui: Ui) => openTab(ui, place),
  })),
  {
    keys: ['tab', 'right', 'l'],
    shown: 'Tab ←→',
    help: 'the next, the one before',
    run: (ui) => nextTab(ui, 1),
  },
  { keys: ['backtab', 'left', 'h'], shown: '←', run: (ui) => nextTab(ui, -1) },
  {
    keys: ['enter'],
    shown: 'Enter',
    help: 'open the job',
    command: 'jobs show ID',
    run: (ui) => openJob(ui),
  },
  {
    keys: ['escape', 'backspace'],
    shown: 'Esc',
    help: 'back; clears a filter',
    when: (state) => inJob(state) || state.tab !== 'live' || state.toast !== undefined,
    run: back,
  },
  {
    keys: ['/'],
    shown: '/',
    label: 'find',
    help: 'find',
    command: 'jobs list --text T',
    run: find,
  },
  {
    keys: ['n'],
    shown: 'n N',
    label: 'next',
    help: 'next found, one before',
    when: searching,
    run: (ui) => nextMatch(ui, 1),
  },
  { keys: ['N'], shown: 'N', when: searching, run: (ui) => nextMatch(ui, -1) },
  {
    keys: ['t'],
    shown: 't',
    label: 'status',
    help: 'only one status',
    command: 'jobs list --status S',
    when: (state) => !inJob(state) && state.tab === 'all',
    run: nextStatus,
  },
];
