import { simpleQuery } from '../db/protocol.js';
import type { RawSession } from '../db/raw-session.js';
import type { Client } from './client.js';
import { SUPERUSER } from './client-state.js';
import { frame, Q } from './frames.js';
import { parameterStatus } from './messages.js';
import { identifier, literal, query } from './own-statements.js';
import type { Effect } from './statement.js';
import { DROP_TEMPORARY } from './temporary.js';
import { SYNC } from './units.js';

/** What a statement means beside the engine and needs statements of our own for. */
export async function applyEffect(effect: Effect, raw: RawSession, client: Client): Promise<void> {
  const { state, shared } = client;
  if (effect.kind === 'reset') {
    shared.tenancy.wasReset();
    await restoreInitial(raw, client);
  }
  if (effect.kind !== 'discard') return;
  if (effect.what === 'temp') await query(raw, DROP_TEMPORARY);
  if (effect.what === 'sequences') state.sequences = '';
  if (effect.what === 'all') await discardAll(raw, client);
}

/** RESET goes back to what a client has begun with, and not to what the engine has. */
async function restoreInitial(raw: RawSession, client: Client): Promise<void> {
  const { shared, state, connection } = client;
  await shared.tenancy.restoreInitial(raw, state);
  if (state.initial.size === 0) return;
  const rows = await query<{ name: string; setting: string }>(
    raw,
    `select name, setting from pg_catalog.pg_settings
      where pg_catalog.lower(name) in (${[...state.initial.keys()].map(literal).join(', ')})`,
  );
  for (const { name, setting } of rows) {
    if (shared.tenancy.parameters.has(name) && client.reported(name, setting)) {
      connection.write(parameterStatus(name, setting));
    }
  }
}

/** DISCARD ALL, for one client: the engine's would do it for all. */
async function discardAll(raw: RawSession, client: Client): Promise<void> {
  const { state, shared, names } = client;
  await closeCursors(raw, client);
  for (const { engineName } of names.clear()) client.garbage.push(engineName);
  client.subscriptions.stop();
  if (state.locks.size > 0) client.takeBackLocks(new Map());
  await raw.send(
    simpleQuery(
      `set session authorization ${identifier(state.initialUser)}; set role none; reset all;
       discard plans; discard sequences`,
    ),
  );
  state.sequences = '';
  state.dirty = true;
  shared.tenancy.wasReset();
  await restoreInitial(raw, client);
  await query(raw, DROP_TEMPORARY);
}

export async function closeCursors(raw: RawSession, { names }: Client): Promise<void> {
  const { cursors } = names;
  names.closed(undefined);
  if (cursors.length === 0) return;
  await raw.send(simpleQuery(cursors.map((name) => `close ${name}`).join('; ')));
}

/** Takes out of the engine what a client that is gone has left there. */
export async function leaveNothing(raw: RawSession, client: Client): Promise<void> {
  const { shared, state, names, garbage } = client;
  await shared.tenancy.enter(raw, state);
  await query(raw, `set session authorization ${SUPERUSER}; set role none; reset all`);
  state.dirty = true;
  shared.tenancy.wasReset();
  if (state.temporary) await query(raw, DROP_TEMPORARY);
  await closeCursors(raw, client);
  garbage.push(...names.clear().map(({ engineName }) => engineName));
  await closeStatements(raw, garbage);
  if (state.locks.size > 0) shared.tenancy.locksChanged();
}

/** Makes the engine forget statements that were prepared. */
export async function closeStatements(raw: RawSession, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const closes = names.map((name) => frame(Q.Close, Buffer.from('S'), name));
  await raw.send(Buffer.concat([...closes, SYNC.bytes]));
}
