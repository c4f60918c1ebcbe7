/** How a command reaches the emulator that runs, for what only it can do. */
import { type Open, openOverHttp, overHttp, type Send } from '../api/client.js';
import type { Config } from '../config.js';
import { readOwner } from '../db/lock.js';
import { JobqError } from '../errors.js';
import { isLocal } from './when-free.js';

export interface EmulatorConnection {
  send: Send;
  open: Open;
  emulator: { url: string; pid: number };
}

/**
 * Finds the running emulator of the data directory.
 * @throws JobqError `emulator-unreachable` when none runs there.
 */
export async function connectToEmulator(config: Config): Promise<EmulatorConnection> {
  const owner = isLocal(config) ? await readOwner(config.dataDir) : undefined;
  if (owner?.url !== undefined) return toEmulator({ url: owner.url, pid: owner.pid });
  throw new JobqError(
    'emulator-unreachable',
    `no emulator is running in ${config.dataDir}`,
    'Start it first, in another terminal: npx jobq-dev',
  );
}

export function toEmulator(emulator: { url: string; pid: number }): EmulatorConnection {
  const { url } = emulator;
  return { send: overHttp(url), open: openOverHttp(url), emulator };
}
