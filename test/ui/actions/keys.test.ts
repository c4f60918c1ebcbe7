/** What each key does, through the real API to a real table. */
import { describe, expect, it } from 'vitest';
import { cancel } from '#src/queue/cancel.js';
import { enqueue } from '#src/queue/enqueue.js';
import { findJob } from '#src/queue/find.js';
import { apiWorld } from '../../api/world.js';
import { exited } from '../../support/fake-provider.js';
import { desk } from '../desk.js';

const world = apiWorld();

const insert = (kind = 'work', payload = '{}') =>
  enqueue(world.db, { jobs: [{ kind, payload }], now: world.clock.now() });
const find = (id: string) => findJob(world.db, id);
const kill = (id: string) => cancel(world.db, { id, now: world.clock.now() });

describe('keys', () => {
  it('n inserts a job, and says what is wrong with what was typed', async () => {
    const { keys, shows } = await desk(world);
    keys('n', `'work {"id": 1970670598291982290'`, 'enter');
    await shows(/the payload is no JSON: line 1/);
    keys('}', 'enter');
    await shows(/✓ job 1 work is in the table/);
    expect(await find('1')).toMatchObject({ kind: 'work', payload: '{"id": 1970670598291982290}' });
    keys('n', 'enter');
    await shows(/say which kind/);
    keys('escape', 'n', `'work'`, 'enter');
    await shows(/✓ job 2/);
    expect((await find('2')).payload).toBe('{}');
  });

  it('typed keys are no commands while a question is asked', async () => {
    const { keys, state } = await desk(world);
    const made = await desk(world);
    made.keys('n', 'q', 'x', 'R');
    expect(made.quits).toBe(0);
    expect(made.state.prompt).toMatchObject({ value: 'qxR' });
    made.keys('ctrl+c');
    expect([made.state.prompt, made.quits]).toEqual([undefined, 0]);
    expect(state.prompt).toBeUndefined();
    keys('q');
  });

  it('d drains, and the feed tells what came of it', async () => {
    await insert();
    await insert('unknown');
    const { keys, shows } = await desk(world);
    keys('d');
    await shows(/✓ drained: 2 claimed, 1 done, 1 retried/);
    await shows(/done +1 +work/);
    await shows(/retry +2 +unknown +attempt 1 of 3: .*no handler/);
  });

  it('2 lists what waits for a retry, and r runs it now', async () => {
    await insert();
    world.provider.answer = () => exited(1, 'no such account');
    const { keys, shows } = await desk(world);
    keys('d');
    await shows(/✓ drained/);
    keys('2');
    await shows(/› +1 +work +1 of 3 +2m\d+s +no such account/);
    keys('r');
    await shows(/✓ job 1 is due now/);
    expect((await find('1')).run_after.getTime()).toBeLessThanOrEqual(Date.now() + 1);
    await shows(/1 of 3 +due/);
  });

  it('3 lists the dead; r revives one, R all of its kind after asking', async () => {
    for (const kind of ['work', 'work', 'other']) await insert(kind);
    for (const id of ['1', '2', '3']) await kill(id);
    const { keys, shows } = await desk(world);
    keys('3');
    await shows(/› +3 +other/);
    keys('r');
    await shows(/✓ job 3 is pending again/);
    keys('down', 'R');
    await shows(/retry every dead job of kind work\?/);
    keys('n');
    expect((await find('1')).status).toBe('dead');
    keys('R', 'y');
    await shows(/✓ 2 dead jobs are pending again/);
    expect((await find('1')).status).toBe('pending');
    await shows(/dead 0/);
    keys('R');
    await shows(/no job is dead/);
  });

  it('x cancels, and asks before it kills what runs', async () => {
    await insert();
    await insert();
    world.provider.answer = () => undefined;
    const { keys, shows, ui } = await desk(world);
    keys('d');
    await world.provider.started(2);
    await shows(/› +1 +work +1 of 3/);
    keys('x');
    await shows(/kill the running attempt of job 1\?/);
    keys('y');
    await shows(/✓ job 1 is cancelled/);
    expect((await find('1')).status).toBe('dead');
    keys('4');
    await shows(/2 +work +running/);
    for (const run of world.provider.running) run.end(exited(0));
    await shows(/2 +work +done/);
    keys('x');
    await shows(/✗ job 2 is done/);
    expect(ui.store.state.toast?.hint).toMatch(/pending or running/);
  });

  it('e edits a payload, digit for digit; what is over runs as a copy that names its parent', async () => {
    await insert('work', '{"id": 1970670598291982290, "n": 1.10}');
    await kill('1');
    const made = await desk(world);
    made.editor = async (text) => {
      expect(text).toBe('{\n  "n": 1.10,\n  "id": 1970670598291982290\n}\n');
      return text.replace('1.10', '2.20');
    };
    made.keys('4');
    await made.shows(/› +1 +work +dead/);
    made.keys('e');
    await made.shows(/✓ job 1 is over and keeps its history; job 2 is its edited copy/);
    expect(await find('2')).toMatchObject({
      parent_id: '1',
      payload: '{"n": 2.20, "id": 1970670598291982290}',
    });
    await made.shows(/› +2 +work +pending/);
    made.keys('enter');
    await made.shows(/job 2 work[\s\S]*edited copy of 1/);
    made.keys('4');
    await made.shows(/›└ 2 +work +pending/);
    made.keys('up', 'enter');
    await made.shows(/job 1 work/);
  });

  it('e says where edited JSON is wrong, and lets it be edited again', async () => {
    await insert('work', '{"a": 1}');
    const made = await desk(world);
    const edits = ['{"a": }', '{"a": 2}'];
    made.editor = async () => edits.shift()!;
    made.keys('4');
    await made.shows(/› +1/);
    made.keys('e');
    await made.shows(/no JSON: line 1, column 7/);
    made.keys('e');
    await made.shows(/✓ job 1 is changed/);
    expect((await find('1')).payload).toBe('{"a": 2}');
    made.editor = async (text) => text;
    made.keys('e');
    await made.shows(/✓ nothing was changed/);
  });

  it('c copies the command that inserts the job again, and shows it', async () => {
    await enqueue(world.db, {
      jobs: [{ kind: 'work', payload: `{"note": "it's"}`, maxAttempts: 5 }],
      now: world.clock.now(),
    });
    const made = await desk(world);
    made.keys('4');
    await made.shows(/› +1/);
    made.keys('c');
    await made.shows(/ copied /);
    const command = `npx jobq-dev enqueue work '{"note": "it'\\''s"}' --max-attempts 5`;
    expect(made.copied).toEqual([command]);
    await made.shows(/npx jobq-dev enqueue work/);
    made.keys('j');
    expect(made.state.sheet).toBeUndefined();
  });

  it('/ finds in a list and in a job; Esc goes back step by step', async () => {
    await insert('work', '{"file": "a.png"}');
    await insert('work', '{"file": "b.png"}');
    const made = await desk(world);
    made.keys('/', `'b.PNG'`, 'enter');
    await made.until(({ lists, tab }) => tab === 'all' && lists.all.rows?.length === 1);
    await made.shows(/› +2 +work/);
    made.keys('enter', '2');
    await made.shows(/"file": "b.png"/);
    made.keys('/', `'FILE'`, 'enter');
    await made.shows(/FILE 1 found/);
    made.keys('escape');
    expect(made.state.views[0]!.search).toBe('');
    made.keys('escape');
    expect(made.state.views).toEqual([]);
    made.keys('escape');
    await made.until(({ lists }) => lists.all.rows?.length === 2);
  });

  it('t shows one status after the other', async () => {
    await insert();
    await kill('1');
    await insert();
    const made = await desk(world);
    made.keys('4', 't');
    await made.until(({ lists }) => lists.all.rows?.map(({ id }) => id).join() === '2');
    await made.shows(/status:pending/);
    made.keys('t', 't', 't');
    await made.until(({ lists }) => lists.all.rows?.map(({ id }) => id).join() === '1');
    made.keys('t');
    await made.until(({ lists }) => lists.all.rows?.length === 2);
  });

  it('an open job is followed: its end is seen as it comes', async () => {
    await insert();
    world.provider.answer = () => undefined;
    const made = await desk(world);
    made.keys('d');
    await world.provider.started(1);
    await made.shows(/› +1 +work/);
    made.keys('enter');
    await made.shows(/job 1 work[\s\S]*running[\s\S]*It is running/);
    world.provider.running[0]!.end(exited(1, 'no such account'));
    await made.shows(/exit status 1 after 1ms[\s\S]*! no such account/);
  });

  it('q quits, ? helps, and a key that means nothing does nothing', async () => {
    const made = await desk(world);
    made.keys('?');
    await made.shows(/fast-forward the clock/);
    made.keys('z');
    expect(made.state.help).toBeUndefined();
    const { state } = made;
    made.keys('z', 'f12', 'ctrl+z', '');
    expect(made.state).toBe(state);
    made.keys('q', 'ctrl+c');
    expect(made.quits).toBe(2);
  });
});
