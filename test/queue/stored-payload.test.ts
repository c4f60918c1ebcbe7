import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '#src/db/open.js';
import type { Database } from '#src/db/port.js';
import { storedPayloads } from '#src/queue/stored-payload.js';

let db: Database;
beforeAll(async () => {
  ({ db } = await openDatabase({ memory: true, command: 'test' }));
});
afterAll(() => db.close());

it('gives payloads as a handler reads them, in order, and nothing for what cannot be stored', async () => {
  expect(
    await storedPayloads(db, [
      '{"bb":1,"a":1970670598291982290,"a":2.50}',
      '"\\ud800"',
      '"\\u0041"',
      '1e400000',
    ]),
  ).toEqual(['{"a": 2.50, "bb": 1}', undefined, '"A"', undefined]);
  expect(await storedPayloads(db, [])).toEqual([]);
});
