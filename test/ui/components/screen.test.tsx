import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { JOB_TABS, type JobView, type State, TABS } from '#ui/store/state.js';
import { draw } from '../draw.js';
import { after, at, claimed, event, row, settled, start } from '../states.js';

/** Twenty minutes of a queue that fell behind and caught up. */
const HISTORY = [0, 30, 60, 90, 120, 240, 300, 280, 120, 60, 0, 0].map((seconds, index) => ({
  at: at(-60 * (12 - index)),
  oldest_waiting_ms: seconds * 1_000,
}));

function busy(size: { columns: number; rows: number }): State {
  return after(
    start(size, { history: HISTORY }),
    claimed('1041', { kind: 'release' }),
    event('output', {
      job_id: '1041',
      claim_id: 'claim-1041',
      stream: 'stdout',
      text: '\u001b[32mcloning\u001b[0m octo-org/octo-repo\n',
      truncated: false,
    }),
    event('enqueued', { at: at(-3), count: 240, first_id: '1040', last_id: '1279' }),
    claimed('1040'),
    settled('1040', { status: 'pending', run_after: at(131), last_error: 'no such account' }),
    claimed('1039', { kind: '支払い/👩‍👩‍👧' }),
    settled('1039', {
      status: 'dead',
      kind: '支払い/👩‍👩‍👧',
      attempts: 3,
      last_error: 'timed out',
    }),
  );
}

describe('the live panel', () => {
  it('says all in one look at 120 × 24', () => {
    expect(draw(busy({ columns: 120, rows: 24 }))).toMatchInlineSnapshot(`
      [
        "jobq-dev ●                                                            http 127.0.0.1:5627   postgres 127.0.0.1:5628/jobq",
        "pending 250   running 1 of 2   done 1,204   dead 4                                            62 done, 3 failed a minute",
        "oldest waiting 2m5s      ▁▂▃▄▄▇██▄▃▁▁ last hour                                        next tick 42s       * * * * * UTC",
        "sandbox process, not isolated                                                 database PGlite /home/ada/app/.jobq/pgdata",
        " 1 Live 1  2 Retries  3 Dead 4  4 All 1,459  ───────────────────────────────────────────────────────────────────────────",
        "   job  kind              attempt              elapsed  of   last output",
        "› 1041  release           1 of 3   ──────────       0s  10m  cloning octo-org/octo-repo",
        "  idle",
        "── what happened ───────────────────────────────────────────────────────────────────────────────────────────────────────",
        " 12:00:01  dead      1039  支払い/👩👩👧     attempt 3 of 3: timed out",
        " 12:00:01  retry     1040  push              attempt 1 of 3: no such account, again in 2m10s",
        " 11:59:57  new       1040                    240 jobs, from this one on",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        " d drain  f forward  n new  b burst  p pause  s sandbox  r retry  e edit  x cancel  c copy  / find  ? keys  q quit",
      ]
    `);
  });

  it('is comfortable at 80 × 24', () => {
    expect(draw(busy({ columns: 80, rows: 24 }))).toMatchInlineSnapshot(`
      [
        "jobq-dev ●                    http 127.0.0.1:5627   postgres 127.0.0.1:5628/jobq",
        "pending 250   running 1 of 2   done 1,204   dead 4    62 done, 3 failed a minute",
        "oldest waiting 2m5s      ▁▂▃▄▄▇██▄▃▁▁ last hour                next tick 42s",
        "sandbox process, not isolated         database PGlite /home/ada/app/.jobq/pgdata",
        " 1 Live 1  2 Retries  3 Dead 4  4 All 1,459  ───────────────────────────────────",
        "   job  kind              attempt              elapsed  of   last output",
        "› 1041  release           1 of 3   ──────────       0s  10m  cloning octo-org/o…",
        "  idle",
        "── what happened ───────────────────────────────────────────────────────────────",
        " 12:00:01  dead      1039  支払い/👩👩👧     attempt 3 of 3: timed out",
        " 12:00:01  retry     1040  push              attempt 1 of 3: no such account, a…",
        " 11:59:57  new       1040                    240 jobs, from this one on",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        " d drain  f forward  n new  b burst  p pause  s sandbox  ? keys  q quit",
      ]
    `);
  });

  it('is usable at 40 × 10', () => {
    expect(draw(busy({ columns: 40, rows: 10 }))).toMatchInlineSnapshot(`
      [
        "● pending 250 run 1 dead 4    tick 42s",
        "oldest waiting 2m5s    ▁▂▃▄▄▇██▄▃▁▁",
        " Live 1  Retries  Dead 4  All 1,459  ───",
        "   job  kind      try  elapsed",
        "› 1041  release   1/3       0s",
        "  idle",
        "── what happened ───────────────────────",
        " dead   1039  支払い/👩…  attempt 3 of …",
        " retry  1040  push        attempt 1 of …",
        " d drain  f forward  ? keys  q quit",
      ]
    `);
  });

  it('says what to do first', () => {
    const first = start({ columns: 80, rows: 24 });
    expect(draw(first).slice(5).join('\n')).toContain('n inserts a job   b replays a burst');
    const none = { ...first, overview: { ...first.overview!, handler_kinds: [] } };
    const lines = draw(none).join('\n');
    expect(lines).toContain('There are no handlers yet.');
    expect(lines).toContain('i creates three examples there.');
  });

  it('shows a clock that was moved, a pause, and an emulator that is not heard', () => {
    const state = after(
      busy({ columns: 100, rows: 24 }),
      event('clock', { at: at(0), offset_ms: 7_500_000 }),
      event('paused', { at: at(0), paused: true }),
    );
    const [brand, , tick] = draw(state);
    expect(brand).toMatch(/^jobq-dev ‖ paused .*clock \+2h5m/);
    expect(tick).toContain('paused, p goes on');
    const lost = draw({ ...state, link: 'lost' });
    expect(lost[0]).toMatch(/^jobq-dev ○ lost/);
    expect(lost.at(-2)).toContain('http://127.0.0.1:5627 is not heard; waiting for it');
  });

  it('warns when the oldest job has waited too long', () => {
    const state = busy({ columns: 80, rows: 24 });
    const stats = { ...state.overview!.stats, oldest_waiting_ms: 301_000 };
    const late = { ...state, overview: { ...state.overview!, stats } };
    expect(draw(late)[2]).toMatch(/^oldest waiting 5m1s/);
  });
});

describe('the lists', () => {
  const retries = [
    row('1040', { attempts: 1, run_after: at(131), last_error: 'no such account' }),
    row('1038', { kind: 'release', attempts: 2, run_after: at(-3), last_error: '404' }),
  ];
  const dead = [
    row('1039', {
      kind: '支払い',
      status: 'dead',
      attempts: 3,
      finished_at: at(-75),
      last_error: 'Traceback (most recent call last):\n  File "push.py", line 1\nKeyError: id',
    }),
  ];
  const all = [
    row('1041', { status: 'running', attempts: 1, locked_at: at(-12) }),
    ...dead,
    ...retries,
  ];

  const showing = (tab: State['tab'], size = { columns: 80, rows: 12 }): State => {
    const state = start(size);
    const { lists } = state;
    return {
      ...state,
      tab,
      lists: {
        retries: { ...lists.retries, rows: retries },
        dead: { ...lists.dead, rows: dead },
        all: { ...lists.all, rows: all },
      },
    };
  };

  it.each(TABS.slice(1))('of %s', (tab) => {
    expect(draw(showing(tab)).slice(2)).toMatchSnapshot();
  });

  it('teach while they are empty', () => {
    for (const tab of ['retries', 'dead', 'all'] as const) {
      const state = showing(tab, { columns: 80, rows: 24 });
      const empty = { ...state.lists[tab], rows: [] };
      expect(
        draw({ ...state, lists: { ...state.lists, [tab]: empty } }).slice(5),
      ).toMatchSnapshot();
    }
  });
});

const LOG = {
  id: '1',
  job_id: '1039',
  claim_id: 'c',
  provider: 'process',
  isolation: 'none',
  started_at: new Date(at(-80)),
  finished_at: new Date(at(-79)),
  signal: null,
  duration_ms: 380,
  peak_memory_bytes: 5_662_310,
  stdout: 'reading payload.json\n',
  stderr: '\u001b[31mno such account\u001b[0m\n',
  stdout_bytes: 21,
  stderr_bytes: 25,
  error: 'no such account',
};

const VIEW: JobView = {
  id: '1039',
  job: {
    id: '1039',
    kind: 'push',
    payload: '{"id": 1970670598291982290, "to": ["a", "b"], "note": "x\\ny"}',
    status: 'dead',
    attempts: 2,
    max_attempts: 2,
    run_after: new Date(at(-80)),
    created_at: new Date(at(-120)),
    locked_at: null,
    finished_at: new Date(at(-79)),
    last_error: 'no such account',
    claim_id: null,
    parent_id: '1001',
    attempts_log: [
      { ...LOG, attempt: 1, outcome: 'superseded', exit_code: 0 },
      { ...LOG, id: '2', attempt: 2, outcome: 'exited', exit_code: 1 },
    ],
  },
  explanation: {
    id: '1039',
    status: 'dead',
    reasons: [
      'It is dead since 79 s: 2 of 2 attempts are used.',
      'To run it again: jobq-dev jobs retry 1039',
    ],
  },
  relatives: [
    {
      ...row('1001', { status: 'dead', attempts: 3, last_error: 'no such account' }),
      parent_id: null,
    },
    { ...row('1039', { status: 'dead', attempts: 2 }), parent_id: '1001' },
  ],
  tab: 'output',
  scroll: 0,
  search: '',
  chosen: 0,
};

describe('a job', () => {
  it.each(JOB_TABS)('shows its %s', (tab) => {
    const state = { ...start({ columns: 90, rows: 22 }), views: [{ ...VIEW, tab }] };
    const lines = draw(state).slice(4, -2);
    // The wall's clock is not the test's.
    expect(lines.map((shown) => shown.replaceAll(/\d\d:\d\d:\d\d/g, 'hh:mm:ss'))).toMatchSnapshot();
  });

  it('shows every digit of its payload', () => {
    const state = { ...start(), views: [{ ...VIEW, tab: 'payload' as const }] };
    expect(draw(state).join('\n')).toContain('"id": 1970670598291982290,');
  });
});

describe('any screen', () => {
  it('fits the terminal, whatever its size and whatever is shown', () => {
    const sizes = fc.record({
      columns: fc.integer({ min: 1, max: 130 }),
      rows: fc.integer({ min: 1, max: 45 }),
    });
    const changes = fc.constantFrom<(state: State) => State>(
      (state) => state,
      (state) => ({ ...state, help: 0 }),
      (state) => ({ ...state, sheet: { title: 'copied', text: 'x'.repeat(500) } }),
      (state) => ({ ...state, tab: 'all' }),
      (state) => ({ ...state, toast: { tone: 'bad', text: 'wrong', hint: 'do this' } }),
      (state) => ({ ...state, stopping: 'stopping: 2 running jobs may finish' }),
      (state) => ({ ...state, overview: undefined }),
      ...JOB_TABS.map((tab) => (state: State) => ({
        ...state,
        views: [{ ...VIEW, tab, search: 'o' }],
      })),
    );
    fc.assert(
      fc.property(sizes, changes, (size, change) => {
        const lines = draw(change(busy(size)));
        expect(lines.length).toBeLessThanOrEqual(Math.max(size.rows, 1));
        for (const shown of lines) expect(stringWidth(shown)).toBeLessThanOrEqual(size.columns);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    [1, 1],
    [2, 1],
    [1, 50],
    [300, 2],
  ])('of %i × %i is drawn', (columns, rows) => {
    expect(draw(busy({ columns, rows })).length).toBeLessThanOrEqual(rows);
  });
});
