/** The connections of the drainers to one Postgres. */
import type { Database } from '#src/db/port.js';
import { openPostgres } from '#src/db/postgres.js';
import { DRAINERS } from './commands.js';
import { installReferee } from './invariants.js';

/**
 * The last drainer's planner knows nested loops only: a rule that holds by the grace of a plan breaks
 * there.
 */
const NESTED_LOOPS = ['hashjoin', 'mergejoin', 'hashagg', 'material', 'sort']
  .map((plan) => `-c enable_${plan}=off`)
  .join(' ');

/** @param databaseUrl of a migrated database without a referee. */
export async function openDrainers(databaseUrl: string): Promise<Database[]> {
  const url = new URL(databaseUrl);
  const connections: Database[] = [];
  for (let n = 0; n < DRAINERS; n += 1) {
    if (n === DRAINERS - 1) url.searchParams.set('options', NESTED_LOOPS);
    connections.push(await openPostgres({ databaseUrl: url.href }));
  }
  await installReferee(connections[0]!);
  return connections;
}
