import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#src/db/port.js';
import { freshMemoryDatabase } from '../../support/postgres.js';
import { DRAINERS, sequence } from './commands.js';
import { Tally } from './fault.js';
import { installReferee } from './invariants.js';
import { play } from './play.js';
import { REPLAYING, search, TIMEOUT_MS } from './search.js';
import { VERBS } from './verbs.js';

let db: Database;
beforeAll(async () => {
  db = await freshMemoryDatabase();
  await installReferee(db);
});
afterAll(() => db.close());

it('2,000 random sequences on PGlite are what the model says', {
  timeout: TIMEOUT_MS,
}, async () => {
  const connections = Array.from({ length: DRAINERS }, () => db);
  const tally = new Tally();
  await search(sequence, 2_000, (commands) => play(commands, connections, VERBS, tally));
  if (!REPLAYING) expect(tally.late / tally.steps).toBeGreaterThan(0.1);
});
