/** What an empty panel says: what it will show, and what to do next. */
import { filterText } from '../store/list.js';
import type { ListTab, State } from '../store/state.js';
import { bold, dim, type Piece, text } from '../text/pieces.js';
import { plain } from '../text/plain.js';

/** A line of sentences; keys stand out. */
export type Lesson = Piece[];

const key = (name: string): Piece => bold(name, 'info');

/** The live panel before anything has happened. */
export function firstSteps(state: State): Lesson[] {
  const info = state.overview?.info;
  if (info === undefined) return [];
  if (lacksHandlers(state)) {
    return [
      [
        bold('There are no handlers yet.'),
        text(' A handler is a script, handlers/<kind>.<ext>, in any language.'),
      ],
      [text('Looked in '), text(plain(info.handlers), 'info')],
      [],
      [key('i'), text(' creates three examples there. '), dim('As a command: jobq-dev init')],
      [text('Or start with '), text('--handlers DIR', 'info'), text(' to use your own.')],
    ];
  }
  return [
    [bold('Nothing has happened yet.'), text(' Each tick claims what is due and runs it here.')],
    [],
    [
      key('n'),
      text(' inserts a job   '),
      key('b'),
      text(' replays a burst   '),
      key('d'),
      text(' drains now   '),
      key('?'),
      text(' all keys'),
    ],
    ...(info.urls.postgres === null
      ? []
      : [[dim('Your app inserts rows at '), text(plain(info.urls.postgres), 'info')]]),
    [dim('From another shell: '), text(`npx jobq-dev enqueue KIND '{"any":"json"}'`, 'info')],
  ];
}

export function emptyList(tab: ListTab, state: State): Lesson[] {
  const filter = filterText(state.lists[tab].filter);
  if (filter !== '') {
    return [
      [text('No job matches '), text(plain(filter), 'info'), text('.')],
      [key('/'), text(' changes the filter, '), key('esc'), text(' clears it.')],
    ];
  }
  switch (tab) {
    case 'retries':
      return [
        [bold('No job waits for a retry.')],
        [
          text(
            'A failed attempt comes here with the time until its next one; each wait is longer.',
          ),
        ],
        [key('f'), text(' moves the clock to the next retry, so that nobody waits.')],
      ];
    case 'dead':
      return [
        [bold('Nothing has died.')],
        [text('A job is dead when its attempts are used up. It stays for you to look at:')],
        [key('r'), text(' retries it, '), key('e'), text(' edits its payload and runs a copy.')],
      ];
    case 'all':
      return [
        [bold('The table is empty.')],
        [key('n'), text(' inserts a job, '), key('b'), text(' replays a burst, or your app says:')],
        [text(`insert into jobs (kind, payload) values ('hello', '{"name":"Ada"}')`, 'info')],
      ];
  }
}

/** Whether the handlers directory is missing or empty. */
export function lacksHandlers({ overview }: State): boolean {
  return overview?.handler_kinds.length === 0;
}
