import type { RawSession } from '../db/raw-session.js';
import type { Client } from './client.js';
import {
  authenticationOk,
  backendKeyData,
  negotiateProtocolVersion,
  parameterStatus,
  readyForQuery,
} from './messages.js';
import { query } from './own-statements.js';

/** Everyone is let in: only this machine can reach the port. */
export function welcome(minor: number, unknownOptions: readonly string[]): Buffer[] {
  const negotiate = minor > 0 || unknownOptions.length > 0;
  return [...(negotiate ? [negotiateProtocolVersion(unknownOptions)] : []), authenticationOk()];
}

/**
 * What a client is told before its first statement.
 * @param reported how the engine reports its settings.
 */
export function greeting(
  client: Client,
  secret: number,
  reported: ReadonlyMap<string, string>,
): Buffer[] {
  const { state } = client;
  const parameters = [...reported]
    .filter(([name, value]) => client.reported(name, value))
    .map(([name, value]) => parameterStatus(name, value));
  return [...parameters, backendKeyData(state.pid, secret), readyForQuery('I')];
}

/** How the engine reports the settings that this client has begun with. */
export async function reportedNow(
  raw: RawSession,
  { state, shared }: Client,
): Promise<ReadonlyMap<string, string>> {
  const { parameters } = shared.tenancy;
  if (state.initial.size === 0) return parameters;
  const rows = await query<{ name: string; setting: string }>(
    raw,
    'select name, setting from pg_catalog.pg_settings',
  );
  const now = new Map(rows.map(({ name, setting }) => [name, setting]));
  return new Map([...parameters].map(([name, value]) => [name, now.get(name) ?? value]));
}

/** The same, without asking: what it has begun with is set at its first turn. */
export function expected({ state, shared }: Client): ReadonlyMap<string, string> {
  const own = new Map([...state.initial].map(([name, value]) => [name.toLowerCase(), value]));
  return new Map(
    [...shared.tenancy.parameters].map(([name, value]) => [
      name,
      own.get(name.toLowerCase()) ?? value,
    ]),
  );
}
