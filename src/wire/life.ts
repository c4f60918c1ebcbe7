import { DatabaseError } from '../db/port.js';
import { simpleQuery } from '../db/protocol.js';
import type { RawSession } from '../db/raw-session.js';
import { SESSION_FUNCTIONS, SESSION_FUNCTIONS_VERSION } from '../db/session-functions.js';
import { Answer } from './answer.js';
import { SUPERUSER } from './client-state.js';
import { identifier, query } from './own-statements.js';

/**
 * Makes a new life of the engine ready for clients.
 * @param channels that clients listen on.
 * @returns what a client is told at its start (ParameterStatus), with nothing set.
 */
export async function beginLife(
  raw: RawSession,
  channels: Iterable<string>,
): Promise<Map<string, string>> {
  const parameters = new Map<string, string>();
  const reports = async (bytes: Uint8Array) => {
    const answer = new Answer([], {
      notice: () => false,
      notification: () => undefined,
      parameter: (name, value) => {
        parameters.set(name, value);
        return false;
      },
      nameOf: (name) => name,
    });
    answer.push(await raw.send(bytes));
  };
  // As a client's, so that the engine reports its settings from now on.
  await reports(STARTUP);
  await reports(simpleQuery(`set session authorization ${SUPERUSER}`));
  if ((await installedVersion(raw)) !== SESSION_FUNCTIONS_VERSION) {
    await query(raw, SESSION_FUNCTIONS);
  }
  for (const channel of channels) await query(raw, `listen ${identifier(channel)}`);
  return parameters;
}

async function installedVersion(raw: RawSession): Promise<number | undefined> {
  try {
    const [row] = await query<{ version: number }>(
      raw,
      'select pg_catalog.jobq_wire_version() as version',
    );
    return row!.version;
  } catch (error) {
    // The directory was made by an older jobq-dev.
    if (error instanceof DatabaseError && error.sqlstate === '42883') return undefined;
    throw error;
  }
}

const STARTUP = startupPacket(`user\0${SUPERUSER}\0database\0postgres\0\0`);

function startupPacket(parameters: string): Uint8Array {
  const bytes = Buffer.alloc(8 + parameters.length);
  bytes.writeInt32BE(bytes.length, 0);
  bytes.writeInt32BE(3 << 16, 4);
  bytes.write(parameters, 8);
  return bytes;
}
