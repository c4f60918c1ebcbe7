/** How a command reaches the emulator that runs, for what only it can do. */
import { type Open, openOverHttp, overHttp, type Send } from '../api/client.js';
import type { Config } from '../config.js';
import { JobqError } from '../errors.js';
import { findPresence } from '../presence.js';

export interface EmulatorConnection {
  send: Send;
  open: Open;
  emulator: { url: string; pid: number };
}

/**
 * Finds the running emulator of the data directory.
 * @throws JobqError `emulator-unreachable` when none runs there.
 */
export function connectToEmulator(config: Config): EmulatorConnection {
  const found = findPresence(config.dataDir);
  if (found !== undefined) return toEmulator(found, config);
  throw new JobqError(
    'emulator-unreachable',
    `no emulator is running in ${config.dataDir}`,
    'Start it first, in another terminal: npx jobq-dev',
  );
}

/** The token is what the user says, else what the emulator left for commands of its folder. */
export function toEmulator(
  { url, pid }: { url: string; pid: number },
  { dataDir, token }: Config,
): EmulatorConnection {
  const known = token ?? findPresence(dataDir)?.token;
  return {
    send: overHttp(url, known),
    open: openOverHttp(url, known),
    emulator: { url, pid },
  };
}
