import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Database, DatabaseError } from '#src/db/port.js';
import { watched } from '#src/db/watched.js';
import { JobqError } from '#src/errors.js';

const away = () => new JobqError('database-unreachable', 'no answer');

describe('a watched database', () => {
  /** How the database answers; each test sets it. */
  let answer: () => Promise<never> | Promise<{ rows: []; rowCount: number }>;
  let seen: [boolean, string][];
  let db: Database;

  const here = async () => ({ rows: [] as [], rowCount: 0 });
  const gone = () => Promise.reject(away());

  beforeEach(() => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    answer = here;
    seen = [];
    const bare: Database = {
      driver: 'postgres',
      location: 'there',
      query: () => answer(),
      exec: async () => void (await answer()),
      transaction: async () => (await answer()) as never,
      maintain: async () => void (await answer()),
      close: async () => {},
    };
    db = watched(bare, (...change) => seen.push(change));
  });

  const ask = () => db.query('select 1').catch((error: Error) => error);

  it('tells once that it went away, and once that it is back', async () => {
    await ask();
    expect(seen).toEqual([]);
    answer = gone;
    await Promise.all([ask(), ask()]);
    await db.exec('').catch(() => {});
    await db.transaction(async () => {}).catch(() => {});
    await db.maintain().catch(() => {});
    expect(seen).toEqual([[false, 'no answer']]);
    answer = here;
    await Promise.all([ask(), ask()]);
    expect(seen).toEqual([
      [false, 'no answer'],
      [true, 'the database at there answers again'],
    ]);
  });

  it('passes answers and errors on', async () => {
    expect(await ask()).toEqual({ rows: [], rowCount: 0 });
    answer = gone;
    expect(await ask()).toMatchObject({ code: 'database-unreachable' });
  });

  it('takes what the server refuses for an answer', async () => {
    answer = gone;
    await ask();
    answer = () => Promise.reject(new DatabaseError('no such table', '42P01'));
    await ask();
    expect(seen.map(([reachable]) => reachable)).toEqual([false, true]);
  });

  it('learns nothing from an error that is none of the database', async () => {
    answer = gone;
    await ask();
    answer = () => Promise.reject(new Error('a fault of ours'));
    await ask();
    expect(seen.map(([reachable]) => reachable)).toEqual([false]);
  });

  it('is not away for a lost connection when a later statement was answered', async () => {
    let fail = () => {};
    answer = () => new Promise((_resolve, reject) => (fail = () => reject(away())));
    const early = ask();
    answer = here;
    await ask();
    fail();
    expect(await early).toMatchObject({ code: 'database-unreachable' });
    expect(seen).toEqual([]);
  });

  it('notices its return by itself, within a second', async () => {
    answer = gone;
    await ask();
    await vi.advanceTimersByTimeAsync(5_000);
    answer = here;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen.map(([reachable]) => reachable)).toEqual([false, true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('says nothing, and looks no more, once it is closed', async () => {
    answer = gone;
    await ask();
    await db.close();
    answer = here;
    await ask();
    expect(seen).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
