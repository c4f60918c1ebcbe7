import { describe, expect, it } from 'vitest';
import { type Circumstances, explain } from '#src/job/explain.js';
import type { Job } from '#src/job/job.js';

const NOW = new Date('2026-05-01T12:00:00Z');
const inMs = (ms: number) => new Date(NOW.getTime() + ms);

const job = (more: Partial<Job> = {}): Job => ({
  id: '7',
  kind: 'resize',
  payload: '{}',
  status: 'pending',
  attempts: 0,
  max_attempts: 3,
  run_after: inMs(-5_000),
  locked_at: null,
  last_error: null,
  created_at: inMs(-5_000),
  claim_id: null,
  finished_at: null,
  parent_id: null,
  ...more,
});

const around = (more: Partial<Circumstances> = {}): Circumstances => ({
  now: NOW,
  ahead: 0,
  running: 0,
  concurrency: 4,
  nextTick: inMs(30_000),
  paused: false,
  noHandler: undefined,
  leaseMs: 1_800_000,
  ...more,
});

const DONE = { status: 'done', attempts: 2, finished_at: inMs(-90_000) } as const;
const DEAD = { status: 'dead', attempts: 3, finished_at: inMs(-3_600_000) } as const;
const RUNNING = { status: 'running', attempts: 1, locked_at: inMs(-60_000) } as const;
const TRACE = 'Traceback (most recent call last):\n  File "x", line 1\nKeyError: 1';

describe('explain', () => {
  it.each<[string, Partial<Job>, Partial<Circumstances>, string[]]>([
    ['done', DONE, {}, ['It is done since 1 min 30 s, at attempt 2.']],
    [
      'done before the column was',
      { ...DONE, finished_at: null },
      {},
      ['It is done, at attempt 2.'],
    ],
    [
      'dead',
      { ...DEAD, last_error: TRACE },
      {},
      [
        'It is dead since 1 h: 3 of 3 attempts are used, and nothing runs it again by itself.',
        'Its last error: KeyError: 1',
        'To run it again: jobq-dev jobs retry 7',
      ],
    ],
    [
      'running',
      RUNNING,
      {},
      [
        'It is running: attempt 1 of 3, last sign of life 1 min ago.',
        'If its drainer has died, the reaper returns it in 29 min, when the lease ends.',
      ],
    ],
    [
      'running beyond its lease',
      { ...RUNNING, locked_at: inMs(-1_800_000) },
      {},
      [
        'It is running: attempt 1 of 3, last sign of life 30 min ago.',
        'Its lease is over: the next tick reaps it.',
      ],
    ],
    [
      'pending with its attempts used up (oban 446)',
      { attempts: 3 },
      {},
      [
        'It can never be claimed: its attempts (3) have reached max_attempts (3). The next tick makes it dead.',
      ],
    ],
    [
      'not due yet',
      { run_after: inMs(120_000) },
      {},
      ['It is not due yet: run_after is in 2 min, at 2026-05-01T12:02:00.000Z.'],
    ],
    [
      'waiting for its retry',
      { attempts: 1, run_after: inMs(120_000), last_error: 'disk full\nat x' },
      {},
      [
        'Attempt 1 of 3 failed; it is tried again in 2 min, at 2026-05-01T12:02:00.000Z.',
        'Its last error: disk full',
      ],
    ],
    [
      'not due, and nobody would run it',
      { run_after: inMs(120_000) },
      { nextTick: undefined },
      [
        'It is not due yet: run_after is in 2 min, at 2026-05-01T12:02:00.000Z.',
        expect.stringMatching(/^No drainer runs here: start jobq-dev/) as unknown as string,
      ],
    ],
    [
      'first in line',
      {},
      {},
      [
        'It has been due for 5 s.',
        'It is first in line. The next tick claims in 30 s, at 2026-05-01T12:00:30.000Z.',
      ],
    ],
    [
      'behind one',
      {},
      { ahead: 1 },
      [
        'It has been due for 5 s.',
        '1 due job is before it. The next tick claims in 30 s, at 2026-05-01T12:00:30.000Z.',
      ],
    ],
    [
      'behind others while all slots are taken',
      {},
      { ahead: 12, running: 4 },
      ['It has been due for 5 s.', 'All 4 slots are taken. 12 due jobs are before it.'],
    ],
    [
      'behind more than are counted',
      {},
      { ahead: 1_001, running: 4 },
      ['It has been due for 5 s.', 'All 4 slots are taken. More than 1000 due jobs are before it.'],
    ],
    [
      'due, paused',
      {},
      { paused: true },
      [
        'It has been due for 5 s.',
        expect.stringMatching(/^The drainer is paused: .*jobq-dev resume/),
      ],
    ],
    [
      'not due, paused',
      { run_after: inMs(60_000) },
      { paused: true, nextTick: undefined },
      [
        expect.stringMatching(/^It is not due yet/),
        expect.stringMatching(/^The drainer is paused/),
      ],
    ],
    [
      'due, without a drainer',
      {},
      { nextTick: undefined, ahead: 2 },
      [
        'It has been due for 5 s.',
        '2 due jobs are before it.',
        expect.stringMatching(/^No drainer runs here/) as unknown as string,
      ],
    ],
    [
      'due, without a handler',
      {},
      { noHandler: 'no handler for kind "resize"' },
      [
        'It has been due for 5 s.',
        expect.stringMatching(/^It is first in line/) as unknown as string,
        'When it runs it will fail: no handler for kind "resize"',
      ],
    ],
  ])('of a job that is %s', (_what, more, circumstances, reasons) => {
    expect(explain(job(more), around(circumstances))).toEqual(reasons);
  });

  it('names the last error of a job that is due again', () => {
    const reasons = explain(job({ attempts: 1, last_error: 'disk full\nat x' }), around());
    expect(reasons.join('\n')).toMatch(/Attempt 1 of 3 failed.*disk full/);
  });

  it('is always sentences of one line', () => {
    for (const status of ['pending', 'running', 'done', 'dead'] as const) {
      for (const last_error of [null, '', 'a\nb\r\nc']) {
        for (const reason of explain(job({ status, last_error }), around())) {
          expect(reason).toMatch(/^[A-Z][^\r\n]*$/);
        }
      }
    }
  });
});
