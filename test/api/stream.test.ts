/** What is told as it happens, from the server to a client. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask, inProcess, type Open, openInProcess, openOverHttp } from '#src/api/client.js';
import type { Overview, StreamEvent } from '#src/api/contract.js';
import { followEvents } from '#src/api/follow-events.js';
import { logs } from '#src/api/logs.js';
import { readMessages } from '#src/api/sse.js';
import { showJob } from '#src/queue/inspect.js';
import { exited } from '../support/fake-provider.js';
import { claimed, tick } from './events.js';
import { serveApp } from './server.js';
import { apiWorld } from './world.js';

const world = apiWorld();

/** A signal that is aborted when the test ends, at the latest. */
function stopper(): AbortController {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return stop;
}

/** Something that happens once, and can be waited for. */
function latch(): { open: () => void; opened: Promise<void> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** The next events, `count` of them. */
async function take(events: AsyncGenerator<StreamEvent>, count: number): Promise<StreamEvent[]> {
  const found: StreamEvent[] = [];
  while (found.length < count) {
    const { value, done } = await events.next();
    if (done) throw new Error(`the stream ended after ${found.length}`);
    found.push(value);
  }
  return found;
}

const names = (events: readonly StreamEvent[]) => events.map(({ name }) => name);

describe.each<[string, () => Open | Promise<Open>]>([
  ['over HTTP', async () => openOverHttp((await serveApp(world.app)).url)],
  ['in this process', () => openInProcess(world.app)],
])('events %s', (_where, connect) => {
  it('go on from the overview: nothing is missing between the two', async () => {
    const open = await connect();
    const { signal } = stopper();
    tick(world.events);
    const { event_id } = JSON.parse(
      await ask(inProcess(world.app), 'GET', '/overview'),
    ) as Overview;
    await ask(inProcess(world.app), 'POST', '/jobs', { kind: 'work' });
    await ask(inProcess(world.app), 'POST', '/drain');
    const events = followEvents(open, { after: event_id, signal });
    const found = await take(events, 5);
    expect(names(found)).toEqual(['enqueued', 'tick', 'claimed', 'settled', 'drained']);
    expect(found[3]!.data).toMatchObject({ job: { id: '1', status: 'done' }, error: null });
  });

  it('count with the overview each job once, however many come meanwhile', async () => {
    const JOBS = 20;
    const send = inProcess(world.app);
    const look = async () => JSON.parse(await ask(send, 'GET', '/overview')) as Overview;
    const { event_id } = await look();
    const asked = Array.from({ length: JOBS }, () => {
      void ask(send, 'POST', '/jobs', { kind: 'work' });
      return look();
    });
    const overviews = await Promise.all(asked);
    const { signal } = stopper();
    const events = await take(followEvents(await connect(), { after: event_id, signal }), JOBS);
    for (const overview of overviews) {
      // None is found when it knows of none of them.
      const known = events.findIndex(({ id }) => id === overview.event_id) + 1;
      expect(overview.stats.counts.pending + JOBS - known).toBe(JOBS);
    }
  });

  it('come as they happen, and begin with now', async () => {
    const open = await connect();
    const stop = stopper();
    tick(world.events);
    const connected = latch();
    const events = followEvents(open, {
      signal: stop.signal,
      onConnection: (is) => is && connected.open(),
    });
    const first = take(events, 1);
    await connected.opened;
    world.events.emit('warning', { message: 'line one\nline two' });
    expect((await first)[0]).toMatchObject({
      name: 'warning',
      data: { message: 'line one\nline two' },
    });
    const waiting = events.next();
    stop.abort();
    expect(await waiting).toMatchObject({ done: true });
  });

  it('of another emulator are reset', async () => {
    const events = followEvents(await connect(), { after: 'abcd-17', signal: stopper().signal });
    expect(names(await take(events, 1))).toEqual(['reset']);
  });
});

describe('a stream of events', () => {
  it('is opened again where it broke, and nothing is told twice or lost', async () => {
    const first = await serveApp(world.app);
    const { signal } = stopper();
    const states: boolean[] = [];
    const events = followEvents(openOverHttp(first.url), {
      after: world.watch.log.lastId,
      signal,
      onConnection: (connected) => states.push(connected),
    });
    tick(world.events, 1);
    const seen = await take(events, 1);
    const rest = take(events, 3);
    await first.close();
    tick(world.events, 2);
    tick(world.events, 3);
    await serveApp(world.app, Number(new URL(first.url).port));
    tick(world.events, 4);
    seen.push(...(await rest));
    expect(seen.map(({ data }) => 'at' in data && data.at.slice(-5))).toEqual([
      '.001Z',
      '.002Z',
      '.003Z',
      '.004Z',
    ]);
    expect(states).toEqual([true, false, true]);
  });

  it('that broke before anything was told goes on from where it began', async () => {
    const first = await serveApp(world.app);
    const connected = latch();
    const events = followEvents(openOverHttp(first.url), {
      signal: stopper().signal,
      onConnection: (is) => is && connected.open(),
    });
    const found = take(events, 1);
    await connected.opened;
    await first.close();
    tick(world.events, 9);
    await serveApp(world.app, Number(new URL(first.url).port));
    expect(names(await found)).toEqual(['tick']);
  });

  it('is a refusal when the emulator refuses it, not a break', async () => {
    const open: Open = (path, options) => openInProcess(world.app)(`${path}?before=1`, options);
    const events = followEvents(open, { signal: stopper().signal });
    await expect(events.next()).rejects.toMatchObject({
      code: 'input',
      message: expect.stringMatching(/^unknown field "before"/),
    });
  });

  it('is text/event-stream, resumes by Last-Event-ID or ?after, and forges no field', async () => {
    const { url } = await serveApp(world.app);
    const from = world.watch.log.lastId;
    tick(world.events);
    for (const [path, headers] of [
      ['/events', { 'last-event-id': from }],
      [`/events?after=${from}`, {}],
    ] as const) {
      const response = await fetch(`${url}${path}`, { headers });
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('event:')) text += (await reader.read()).value;
      expect(text).toMatch(/^id: [\w-]+\n\nid: [\w-]+\nevent: tick\ndata: \{.*\}\n\n$/);
      await reader.cancel();
    }
    const forged = await fetch(`${url}/events?after=${encodeURIComponent('x\n\nevent: evil\n\n')}`);
    const reader = forged.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).not.toMatch(/^event: evil/m);
    await reader.cancel();
  });

  it('of a reader that does not read stops nobody, and is reset when it reads again', async () => {
    const { url } = await serveApp(world.app);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    // More than the buffers of both ends and the log hold together.
    const text = 'x'.repeat(32 * 1024);
    for (let n = 0; n < 2_000; n += 1) {
      world.events.emit('output', { job: claimed('1'), stream: 'stdout', text });
      world.watch.log.output.end('claim 1');
      if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    tick(world.events);
    expect(await ask(inProcess(world.app), 'GET', '/healthz')).toBe('{"ok":true}');
    let told = '';
    const reset = new Promise<void>((resolve) => {
      socket.on('data', (bytes) => {
        told = (told + bytes).slice(-1_000);
        if (told.includes('event: reset')) resolve();
      });
    });
    socket.resume();
    await reset;
  });

  it('is over for the server when its reader is gone', async () => {
    const { url } = await serveApp(world.app);
    const outgoing = request(`${url}/events`, { agent: false });
    outgoing.end();
    const [response] = await once(outgoing, 'response');
    await once(response, 'data');
    const returned = new Promise<void>((resolve) => {
      const follow = world.watch.log.follow.bind(world.watch.log);
      world.watch.log.follow = (options) => {
        options.signal.addEventListener('abort', () => resolve());
        return follow(options);
      };
    });
    const second = request(`${url}/events`, { agent: false });
    second.end();
    const [other] = await once(second, 'response');
    await once(other, 'data');
    second.destroy();
    await returned;
    outgoing.destroy();
  });
});

describe('messages', () => {
  it('are read however the text is cut', async () => {
    const text =
      ': hello\n\nid: a-1\n\nid: a-2\nevent: tick\ndata: {"x":": \\n"}\n\nevent: odd\nid: a-3\ndata:{"é🦀":1}\n\n';
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length)), async (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), text.length];
        async function* pieces() {
          for (const [index, edge] of edges.slice(1).entries())
            yield text.slice(edges[index], edge);
        }
        const read: unknown[] = [];
        for await (const message of readMessages(pieces())) read.push(message);
        expect(read).toEqual([
          { id: 'a-1', event: 'message', data: undefined },
          { id: 'a-2', event: 'tick', data: '{"x":": \\n"}' },
          { id: 'a-3', event: 'odd', data: '{"é🦀":1}' },
        ]);
      }),
    );
  });
});

describe('GET /jobs/:id/logs', () => {
  const output = (text: string, stderr = '') => ({
    ...exited(stderr === '' ? 0 : 1, stderr),
    stdout: { text, totalBytes: text.length, truncated: false },
  });
  const text = async (path: string) => (await openLogs(path)).text();
  const openLogs = (path: string) =>
    world.app.request(`http://127.0.0.1${path}`, { headers: { host: '127.0.0.1' } });

  it('is what each attempt wrote, as text', async () => {
    world.provider.answer = () => output('hello\n', 'no\n');
    await ask(inProcess(world.app), 'POST', '/jobs', { kind: 'work' });
    await ask(inProcess(world.app), 'POST', '/drain');
    const first =
      '── attempt 1: exit status 1 after 1 ms in process (isolation: none): no\n── stdout\nhello\n── stderr\nno\n';
    expect(await text('/jobs/1/logs')).toBe(first);
    expect((await openLogs('/jobs/1/logs')).headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await text('/jobs/1/logs?attempt=2')).toBe('');
  });

  it('of a job that is not there is a problem', async () => {
    const response = await openLogs('/jobs/7/logs?follow=true');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'not-found' });
  });

  it('follows through retries until the job is over: all of the output, once', async () => {
    world.provider.answer = () => undefined;
    await ask(inProcess(world.app), 'POST', '/jobs', { kind: 'work', max_attempts: 2 });
    const drained = ask(inProcess(world.app), 'POST', '/drain');
    await world.provider.started(1);
    const { data } = (await lastEvent('claimed'))!;
    const job = { ...claimed('1'), claim_id: (data as { claim_id: string }).claim_id };
    const write = (part: string) =>
      world.events.emit('output', { job, stream: 'stdout', text: part });
    write('before ');
    world.watch.log.output.end('none');
    const followed = await openLogs('/jobs/1/logs?follow=true');
    const reader = followed.body!.pipeThrough(new TextDecoderStream()).getReader();
    let told = '';
    const until = async (part: string) => {
      while (!told.includes(part)) told += (await reader.read()).value ?? fail(told);
    };
    await until('running in process');
    write('after');
    await until('after');
    world.provider.running[0]!.end(output('before after', 'no'));
    await drained;
    await until('failed after');
    await world.db.exec('update jobs set run_after = now()');
    const again = ask(inProcess(world.app), 'POST', '/drain');
    await world.provider.started(2);
    await until('attempt 2');
    world.provider.running[0]!.end(output(''));
    await again;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      told += value;
    }
    expect(told.replace(/\d{4}-\S+Z/, 'LATER')).toBe(
      [
        '── attempt 1: running in process (isolation: none)',
        'before after',
        '── failed after 1 ms, again at LATER: no',
        '── attempt 2: running in process (isolation: none)',
        '── done after 1 ms',
        '',
      ].join('\n'),
    );
  });

  it('name an attempt once that is claimed while they read the table', async () => {
    world.provider.answer = () => undefined;
    await ask(inProcess(world.app), 'POST', '/jobs', { kind: 'work' });
    let drained: Promise<string> | undefined;
    const show = async () => {
      drained = ask(inProcess(world.app), 'POST', '/drain');
      await world.provider.started(1);
      return showJob(world.db, '1');
    };
    const { log } = world.watch;
    let told = '';
    for await (const text of logs(log, show, { follow: true, signal: stopper().signal })) {
      told += text;
      world.provider.running[0]?.end(output('hello\n'));
    }
    await drained;
    expect(told).toBe('── attempt 1: running in process (isolation: none)\n── done after 1 ms\n');
  });

  /** The newest event of a name. */
  async function lastEvent(name: string): Promise<StreamEvent | undefined> {
    const [emulator] = world.watch.log.lastId.split('-');
    const all = world.watch.log.follow({ after: `${emulator}-0`, signal: stopper().signal });
    return (await all.next()).value!.findLast((event: StreamEvent) => event.name === name);
  }
});

function fail(told: string): never {
  throw new Error(`the logs ended after: ${told}`);
}
