import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#src/db/port.js';
import { openPostgres } from '#src/db/postgres.js';
import { freshDatabaseUrl } from '../../support/postgres.js';
import { DRAINERS, sequence } from './commands.js';
import { Tally } from './fault.js';
import { installReferee } from './invariants.js';
import { play } from './play.js';
import { REPLAYING, search } from './search.js';
import { playTogether, race } from './together.js';
import { VERBS } from './verbs.js';

/**
 * The last drainer's planner knows nested loops only: a rule that holds by the grace of a plan breaks
 * there.
 */
const NESTED_LOOPS = ['hashjoin', 'mergejoin', 'hashagg', 'material', 'sort']
  .map((plan) => `-c enable_${plan}=off`)
  .join(' ');

const connections: Database[] = [];

beforeAll(async () => {
  const url = new URL(await freshDatabaseUrl());
  for (let n = 0; n < DRAINERS; n += 1) {
    if (n === DRAINERS - 1) url.searchParams.set('options', NESTED_LOOPS);
    connections.push(await openPostgres({ databaseUrl: url.href }));
  }
  await installReferee(connections[0]!);
});
afterAll(() => Promise.all(connections.map((db) => db.close())));

it('500 random sequences on Postgres are what the model says', { timeout: 600_000 }, async () => {
  const tally = new Tally();
  await search(sequence, 500, (commands) => play(commands, connections, VERBS, tally));
  if (!REPLAYING) expect(tally.late / tally.steps).toBeGreaterThan(0.1);
});

it('300 races of drainers on Postgres break no rule', { timeout: 600_000 }, async () => {
  const tally = new Tally();
  await search(race, 300, (drawn) => playTogether(drawn, connections, VERBS, tally));
  if (!REPLAYING) expect(tally.late / tally.claimed).toBeGreaterThan(0.05);
});
