import { afterEach, beforeEach, expect, it } from 'vitest';
import { WaitingHistory } from '#src/api/waiting-history.js';
import { VirtualClock } from '#src/clock.js';
import type { Queryable } from '#src/db/port.js';

const START = new Date('2026-05-01T12:00:00Z');
const MINUTE = 60_000;

let clock: VirtualClock;
let history: WaitingHistory;
/** What the database answers: since when the oldest job waits; an error when it is away. */
let since: Date | null | Error;
let asked: number;

beforeEach(() => {
  clock = new VirtualClock(START);
  since = null;
  asked = 0;
  const db = {
    query: async () => {
      asked += 1;
      if (since instanceof Error) throw since;
      return { rows: [{ at: since }], rowCount: 1 };
    },
  } as unknown as Queryable;
  history = new WaitingHistory(db, clock);
});
afterEach(() => history.stop());

/** Lets minutes pass, and the answers arrive. */
async function pass(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    clock.advanceTo(new Date(clock.now().getTime() + MINUTE));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it('has a sample at the start and one each minute, the last hour of them', async () => {
  history.start();
  await pass(0);
  since = START;
  await pass(90);
  const { samples } = history;
  expect(asked).toBe(91);
  expect(samples).toHaveLength(60);
  expect(samples[0]).toEqual({ at: '2026-05-01T12:31:00.000Z', oldest_waiting_ms: 31 * MINUTE });
  expect(samples.at(-1)).toMatchObject({ oldest_waiting_ms: 90 * MINUTE });
});

it('keeps nothing of the time before a long fast-forward', async () => {
  history.start();
  await pass(5);
  clock.advanceTo(new Date(START.getTime() + 48 * 60 * MINUTE));
  expect(history.samples.filter(({ at }) => at < '2026-05-03')).toEqual([]);
});

it('has a gap where the database was away, and goes on', async () => {
  history.start();
  await pass(1);
  since = new Error('away');
  await pass(2);
  since = null;
  await pass(1);
  expect(history.samples.map(({ at }) => at.slice(14, 16))).toEqual(['00', '01', '04']);
});

it('asks no more when it was stopped', async () => {
  history.start();
  await pass(1);
  history.stop();
  await pass(3);
  expect(asked).toBe(2);
});
