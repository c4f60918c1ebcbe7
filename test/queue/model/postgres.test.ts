import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#src/db/port.js';
import { freshDatabaseUrl } from '../../support/postgres.js';
import { sequence } from './commands.js';
import { openDrainers } from './drainers.js';
import { Tally } from './fault.js';
import { play } from './play.js';
import { REPLAYING, search, TIMEOUT_MS } from './search.js';
import { playTogether, race } from './together.js';
import { VERBS } from './verbs.js';

let connections: Database[];
beforeAll(async () => {
  connections = await openDrainers(await freshDatabaseUrl());
});
afterAll(() => Promise.all(connections.map((db) => db.close())));

it('500 random sequences on Postgres are what the model says', {
  timeout: TIMEOUT_MS,
}, async () => {
  const tally = new Tally();
  await search(sequence, 500, (commands) => play(commands, connections, VERBS, tally));
  if (!REPLAYING) expect(tally.late / tally.steps).toBeGreaterThan(0.1);
});

it('300 races of drainers on Postgres break no rule', { timeout: TIMEOUT_MS }, async () => {
  const tally = new Tally();
  await search(race, 300, (drawn) => playTogether(drawn, connections, VERBS, tally));
  if (!REPLAYING) expect(tally.late / tally.claimed).toBeGreaterThan(0.05);
});
