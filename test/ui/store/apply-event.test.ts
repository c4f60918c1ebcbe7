import { describe, expect, it } from 'vitest';
import { applyOverview } from '#ui/store/apply-overview.js';
import type { State } from '#ui/store/state.js';
import { after, at, claimed, event, line, NOW, overview, row, settled, start } from '../states.js';

const counts = (state: State) => state.overview!.stats.counts;
const jobs = (state: State) => state.slots.map((slot) => slot?.job.id);
const words = (state: State) => state.feed.map(({ word, job, text }) => [word, job, text]);

describe('what happens', () => {
  it('moves a job from pending over its slot to done', () => {
    const running = after(start(), claimed('7'));
    expect(jobs(running)).toEqual(['7', undefined]);
    expect(counts(running)).toMatchObject({ pending: 11, running: 1 });
    const done = after(running, settled('7', { status: 'done' }));
    expect(jobs(done)).toEqual([undefined, undefined]);
    expect(counts(done)).toEqual({ pending: 11, running: 0, done: 1_205, dead: 3 });
    expect(words(done)).toEqual([['done', '7', '380ms']]);
    expect(done.totals).toMatchObject({ claimed: 1, done: 1, dead: 0 });
  });

  it('says why a job is tried again, when, and that one has died', () => {
    const state = after(
      start(),
      claimed('7'),
      settled('7', { status: 'pending', run_after: at(131), last_error: 'no such account' }),
      claimed('8', { attempts: 3 }),
      settled('8', { status: 'dead', attempts: 3, last_error: 'timed out' }),
    );
    expect(words(state)).toEqual([
      ['dead', '8', 'attempt 3 of 3: timed out'],
      ['retry', '7', 'attempt 1 of 3: no such account, again in 2m10s'],
    ]);
    expect(state.totals).toMatchObject({
      retried: 1,
      dead: 1,
      died: [{ id: '8', kind: 'push', error: 'timed out' }],
    });
  });

  it('keeps each attempt in its slot while others come and go', () => {
    const two = after(start(), claimed('1'), claimed('2'));
    const freed = after(two, settled('1', { status: 'done' }));
    expect(jobs(freed)).toEqual([undefined, '2']);
    expect(jobs(after(freed, claimed('3')))).toEqual(['3', '2']);
  });

  it('shows the last line of what an attempt has written, however it came', () => {
    const output = (text: string) =>
      event('output', {
        job_id: '7',
        claim_id: 'claim-7',
        stream: 'stdout',
        text,
        truncated: false,
      });
    const state = after(start(), claimed('7'), output('one\ntw'), output('o\n\n'));
    expect(state.slots[0]!.last_output).toBe('two');
  });

  it('frees the slot of an attempt that came late or was given back', () => {
    const late = after(
      start(),
      claimed('7'),
      event('superseded', {
        at: at(2),
        job: line('7'),
        claim_id: 'claim-7',
        outcome: 'exited',
      }),
    );
    expect(jobs(late)).toEqual([undefined, undefined]);
    expect(words(late)[0]![0]).toBe('late');
    const released = after(
      start(),
      claimed('7'),
      event('released', {
        at: at(2),
        job: line('7', { status: 'pending', attempts: 0 }),
        claim_id: 'claim-7',
      }),
    );
    expect(counts(released)).toMatchObject({ pending: 12, running: 0 });
  });

  it('patches the rows of the lists, and takes out what does not belong any more', () => {
    const lists = start().lists;
    const retries = { ...lists.retries, rows: [row('7', { attempts: 1 }), row('8')] };
    const all = { ...lists.all, rows: [row('8'), row('7', { attempts: 1 })] };
    const before: State = { ...start(), lists: { ...lists, retries, all } };
    const running = after(before, claimed('7', { attempts: 2 }));
    expect(running.lists.retries.rows!.map(({ id }) => id)).toEqual(['8']);
    expect(running.lists.all.rows![1]).toMatchObject({ id: '7', status: 'running', attempts: 2 });
    const dead = after(running, settled('7', { status: 'dead', attempts: 3 }));
    expect(dead.lists.all.rows![1]).toMatchObject({ status: 'dead', finished_at: at(1) });
  });

  it('moves every countdown when the clock is moved', () => {
    const state = after(start(), event('clock', { at: at(0), offset_ms: 3_600_000 }));
    expect(state.skewMs).toBe(3_600_000);
    expect(state.overview!.info.clock_offset_ms).toBe(3_600_000);
  });

  it('cannot be made to touch the terminal by a kind, an error or a message', () => {
    const evil = '\u001b[2J\n\u202e';
    const state = after(
      start(),
      claimed('7', { kind: evil }),
      settled('7', { status: 'dead', kind: evil, last_error: evil }),
      event('warning', { at: at(0), message: evil }),
      event('database', { at: at(0), reachable: false, message: evil }),
    );
    const texts = state.feed.flatMap(({ text, kind = '' }) => [text, kind]);
    expect([...texts, state.trouble].join('')).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(texts[0]).toBe('\\x1b[2J\\n\\u202e');
  });

  it('is kept for a while, not for ever', () => {
    const many = Array.from({ length: 600 }, (_, index) =>
      event('warning', { at: at(index), message: `${index}` }),
    );
    const { feed } = after(start(), ...many);
    expect(feed).toHaveLength(500);
    expect(feed[0]!.text).toBe('599');
  });
});

describe('a fresh overview', () => {
  const fresh = (state: State, event_id: string, since: Parameters<typeof applyOverview>[2]) =>
    applyOverview(state, overview({ event_id }), since, NOW);

  it('does not lose what came after it', () => {
    const [first, second] = [claimed('7'), claimed('8')];
    const state = after(start(), first, second);
    // The overview knows of the first claim, which is over by now, and not of the second.
    const applied = fresh(state, first.id, [first, second]);
    expect(jobs(applied)).toEqual(['8', undefined]);
    expect(applied.totals.claimed).toBe(2);
    expect(applied.feed).toBe(state.feed);
  });

  it('changes nothing when nothing but time has passed: no frame is drawn for it', () => {
    const state = start();
    const later = overview();
    later.info.now = at(5);
    later.stats.oldest_waiting_ms = 130_000;
    expect(applyOverview(state, later, [], NOW + 5_000)).toBe(state);
    later.stats.counts.pending = 13;
    expect(applyOverview(state, later, [], NOW + 5_000)).not.toBe(state);
  });

  it('leaves attempts in their slots, with what they wrote', () => {
    const output = event('output', {
      job_id: '8',
      claim_id: 'claim-8',
      stream: 'stdout',
      text: 'half',
      truncated: false,
    });
    const state = after(
      start(),
      claimed('7'),
      claimed('8'),
      output,
      settled('7', { status: 'done' }),
    );
    const [run] = [state.slots[1]!].map(({ tail: _tail, ...running }) => running);
    const applied = applyOverview(state, overview({ running: [run!] }), [], NOW);
    expect(jobs(applied)).toEqual([undefined, '8']);
    expect(applied.slots[1]).toMatchObject({ tail: 'half', last_output: 'half' });
  });
});
