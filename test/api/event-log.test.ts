import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventData, type StreamEvent } from '#src/api/contract/events.js';
import { EventLog } from '#src/api/event-log.js';
import { VirtualClock } from '#src/clock.js';
import { Events } from '#src/events.js';
import { claimed, settle, tick } from './events.js';

let events: Events;
let log: EventLog;
let stop: AbortController;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  events = new Events();
  log = new EventLog(events, new VirtualClock(new Date('2026-05-01T12:00:00Z')));
  stop = new AbortController();
});
afterEach(() => {
  log.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const follow = (after = log.lastId, idleMs?: number) =>
  log.follow({ after, signal: stop.signal, ...(idleMs !== undefined && { idleMs }) });

const next = async (reader: AsyncGenerator<StreamEvent[]>) => (await reader.next()).value;

/** Everything that is there, without waiting for more. */
async function read(after: string): Promise<StreamEvent[]> {
  const reader = log.follow({ after, signal: stop.signal, idleMs: 1 });
  const found: StreamEvent[] = [];
  for (;;) {
    const batch = reader.next();
    await vi.advanceTimersByTimeAsync(1);
    const { value } = await batch;
    if (value.length === 0) return found;
    found.push(...value);
  }
}

const names = (batch: readonly StreamEvent[]) => batch.map(({ name }) => name);
const ticksOf = (batch: readonly StreamEvent[]) =>
  batch.map(({ data }) => ('at' in data ? Date.parse(data.at) % 100_000 : Number.NaN));

describe('a reader of the log', () => {
  it('gets what happens after the event it names, in order, and what happens later', async () => {
    const start = log.lastId;
    tick(events, 1);
    const first = log.lastId;
    tick(events, 2);
    tick(events, 3);
    expect(ticksOf(await next(follow(start)))).toEqual([1, 2, 3]);
    const reader = follow(first);
    expect(ticksOf(await next(reader))).toEqual([2, 3]);
    const waiting = next(reader);
    tick(events, 4);
    expect(ticksOf(await waiting)).toEqual([4]);
  });

  it('can go on from any id that it was given', async () => {
    const start = log.lastId;
    for (let ms = 1; ms <= 5; ms += 1) tick(events, ms);
    for (const { id, data } of await read(start)) {
      const [at] = ticksOf([{ id, name: 'tick', data } as StreamEvent]);
      expect(ticksOf(await read(id))).toEqual([1, 2, 3, 4, 5].filter((ms) => ms > at!));
    }
  });

  it.each(['', 'x', '0', '1', 'deadbeef-1', '-1', '99999999999999999999'])(
    'is reset when its id is none of this emulator’s: %j',
    async (id) => {
      tick(events, 1);
      const reader = follow(id);
      expect(await next(reader)).toEqual([{ id: log.lastId, name: 'reset', data: {} }]);
      const waiting = next(reader);
      tick(events, 2);
      expect(ticksOf(await waiting)).toEqual([2]);
    },
  );

  it('is reset when its id is of an emulator that was restarted', async () => {
    tick(events, 1);
    const other = new EventLog(new Events(), new VirtualClock(new Date(0)));
    expect(names(await next(follow(other.lastId)))).toEqual(['reset']);
    const [, count] = log.lastId.split('-');
    expect(names(await next(follow(`${log.lastId.split('-')[0]}-${Number(count) + 1}`)))).toEqual([
      'reset',
    ]);
  });

  it('finds the newest 10,000 events, and is reset when it wants older ones', async () => {
    const start = log.lastId;
    tick(events, 0);
    const second = log.lastId;
    for (let ms = 1; ms <= 10_000; ms += 1) tick(events, ms);
    expect(names(await next(follow(start)))).toEqual(['reset']);
    const found = await read(second);
    expect(ticksOf(found)).toEqual(Array.from({ length: 10_000 }, (_none, index) => index + 1));
  });

  it('is reset, not waited for, when it is slow', async () => {
    const reader = follow();
    tick(events);
    await next(reader);
    for (let ms = 0; ms < 20_000; ms += 1) tick(events, ms);
    expect(await next(reader)).toEqual([{ id: log.lastId, name: 'reset', data: {} }]);
  });

  it('keeps no more output than eight million characters, however few the events', async () => {
    const start = log.lastId;
    const text = 'x'.repeat(32 * 1024);
    for (let n = 0; n < 300; n += 1) {
      events.emit('output', { job: claimed('1'), stream: 'stdout', text });
      vi.advanceTimersByTime(100);
    }
    expect(names(await next(follow(start)))).toEqual(['reset']);
    tick(events);
    const kept = Number(log.lastId.split('-')[1]) - 256;
    expect(names(await next(follow(`${start.split('-')[0]}-${kept}`)))).toContain('output');
  });

  it('gets an empty batch when nothing happens for a while', async () => {
    const reader = follow(log.lastId, 15_000);
    const waiting = next(reader);
    vi.advanceTimersByTime(15_000);
    expect(await waiting).toEqual([]);
  });

  it('ends with its signal, and leaves nothing behind', async () => {
    const reader = follow(log.lastId, 15_000);
    const waiting = reader.next();
    stop.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it('ends when the log is closed, after the last event', async () => {
    const reader = follow();
    const idle = follow();
    const waiting = idle.next();
    tick(events, 7);
    await waiting;
    const over = idle.next();
    log.close();
    expect(ticksOf(await next(reader))).toEqual([7]);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(await over).toEqual({ done: true, value: undefined });
  });
});

describe('what is told', () => {
  it('has the shapes of the contract, errors by their headline', async () => {
    const start = log.lastId;
    const at = new Date('2026-05-01T12:00:00Z');
    const job = claimed('7');
    const trace = 'Traceback (most recent call last):\n  File "x", line 1\nValueError: no';
    tick(events);
    events.emit('claimed', { at, job, provider: 'process', isolation: 'none', timeoutMs: 1_000 });
    events.emit('output', { job, stream: 'stderr', text: 'hello' });
    settle(events, job, trace);
    events.emit('superseded', { at, job, outcome: { kind: 'signaled', signal: 'SIGKILL' } });
    events.emit('released', { at, job });
    events.emit('reaped', { at, job: { ...job, status: 'dead' }, why: 'lease' });
    events.emit('enqueued', { at, ids: [] });
    events.emit('enqueued', { at, ids: ['8', '9'] });
    events.emit('changed', { at, job, count: 1 });
    events.emit('changed', { at, job: undefined, count: 12 });
    events.emit('clock', { at, offsetMs: 5 });
    events.emit('paused', { at, paused: true });
    events.emit('sandbox', { at, provider: 'qemu', description: 'x', isolation: 'microvm' });
    events.emit('database', { at, reachable: false, message: 'away' });
    events.emit('warning', { message: 'careful' });
    events.emit('drained', {
      at,
      counts: { claimed: 1, done: 0, retried: 0, dead: 1, reaped: 0 },
    });
    const told = await read(start);
    for (const { name, data } of told) {
      expect(EventData.shape[name].strict().parse(data), name).toEqual(data);
    }
    expect(new Set(names(told))).toEqual(
      new Set(Object.keys(EventData.shape).filter((name) => name !== 'reset')),
    );
    expect(told.find(({ name }) => name === 'settled')!.data).toMatchObject({
      job: { status: 'dead', last_error: 'ValueError: no' },
      error: 'ValueError: no',
      peak_memory_bytes: null,
    });
    expect(told.find(({ name }) => name === 'released')!.data).toMatchObject({
      job: { status: 'pending', attempts: 0 },
    });
    expect(told.find(({ name }) => name === 'enqueued')!.data).toMatchObject({
      count: 2,
      first_id: '8',
      last_id: '9',
    });
  });
});

describe('output', () => {
  const write = (id: string, text: string, stream: 'stdout' | 'stderr' = 'stdout') =>
    events.emit('output', { job: claimed(id), stream, text });

  it('is gathered by attempt and stream before it is told', async () => {
    const start = log.lastId;
    for (let n = 0; n < 50; n += 1) write('1', `${n},`);
    write('2', 'b');
    write('1', 'oops', 'stderr');
    expect(log.lastId).toBe(start);
    vi.advanceTimersByTime(100);
    const told = (await read(start)).map(({ data }) => data);
    const all = Array.from({ length: 50 }, (_none, n) => `${n},`).join('');
    expect(told).toEqual([
      { job_id: '1', claim_id: 'claim 1', stream: 'stdout', text: all, truncated: false },
      { job_id: '1', claim_id: 'claim 1', stream: 'stderr', text: 'oops', truncated: false },
      { job_id: '2', claim_id: 'claim 2', stream: 'stdout', text: 'b', truncated: false },
    ]);
  });

  it('is told before the end of its attempt', async () => {
    const start = log.lastId;
    write('1', 'last words');
    settle(events, claimed('1'));
    expect(names(await read(start))).toEqual(['output', 'settled']);
    expect(log.output.ofJob('1')).toEqual([]);
  });

  it('that comes faster than it is told is cut to its end, and says so', async () => {
    const start = log.lastId;
    for (let n = 0; n < 100; n += 1) write('1', `${'🦀'.repeat(1_000)}\n`);
    vi.advanceTimersByTime(100);
    const [event] = await read(start);
    expect(event!.data).toMatchObject({ truncated: true });
    const { text } = event!.data as EventData['output'];
    expect(text.length).toBeLessThanOrEqual(32 * 1024);
    expect(text.endsWith('🦀\n')).toBe(true);
    expect(text.isWellFormed()).toBe(true);
  });

  it('of an attempt that runs can be read while it runs: its tail', () => {
    write('1', 'one\n');
    vi.advanceTimersByTime(100);
    write('1', 'two\n');
    expect(log.output.ofJob('1')).toEqual([{ claimId: 'claim 1', stdout: 'one\n', stderr: '' }]);
    for (let n = 0; n < 10; n += 1) {
      write('1', 'x'.repeat(20_000));
      vi.advanceTimersByTime(100);
    }
    expect(log.output.ofJob('1')[0]!.stdout).toHaveLength(64 * 1024);
  });

  it.each([
    ['a line', 'one\ntwo\n', 'two'],
    ['a line that is not over yet', 'one\ntw', 'tw'],
    ['nothing but line ends after it', 'one\n\n  \n', 'one'],
    ['a progress bar that is written over', '10 %\r50 %\r90 %', '90 %'],
    ['colours and a cleared screen', '\u001b[2J\u001b[31mred\u001b[0m\n', 'red'],
    ['a title for the terminal', '\u001b]0;evil\u0007calm', 'calm'],
    ['control and bidi characters', 'a\u0000b\u202ec', 'a\\x00b\\u202ec'],
    ['a megabyte', `${'y'.repeat(1_000_000)}`, `${'y'.repeat(199)}…`],
  ])('shows its last line: %s', (_what, text, shown) => {
    write('1', text);
    expect(log.output.lastLine('claim 1')).toBe(shown);
  });

  it('shows the last line of the stream that was written last, cut anywhere', () => {
    write('1', 'out\n');
    write('1', 'err', 'stderr');
    write('1', 'or\n', 'stderr');
    expect(log.output.lastLine('claim 1')).toBe('error');
    expect(log.output.lastLine('claim 2')).toBe('');
  });

  it('of attempts whose end is never told does not pile up', () => {
    for (let id = 1; id <= 5_000; id += 1) write(String(id), 'x');
    expect(log.output.lastLine('claim 1')).toBe('');
    expect(log.output.lastLine('claim 5000')).toBe('x');
  });
});
