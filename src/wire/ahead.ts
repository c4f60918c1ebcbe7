import type { Client } from './client.js';
import type { Prepared } from './client-names.js';
import { Q, readText } from './frames.js';
import { parseComplete } from './messages.js';
import { translate } from './translate.js';
import type { Unit } from './units.js';

/**
 * Prepares statements without a turn, for a client that has done nothing else: the engine parses them
 * when they are first used, and what is wrong with one is told then. In Postgres, too, that needs
 * nobody's transaction to be over, and there are clients that rely on it: pgbench waits for it while
 * another of its own connections holds one.
 *
 * @returns what the client gets, but for ReadyForQuery; undefined when it must have a turn.
 */
export function prepareAhead({ kind, frames, open }: Unit, client: Client): Buffer[] | undefined {
  const parses = frames.slice(0, -1);
  if (kind !== 'extended' || open || parses.length === 0) return undefined;
  const fresh = parses.every(({ type, bytes }) => {
    const name = readText(bytes, 5)?.text;
    return type === Q.Parse && (name === '' || (name !== undefined && !client.names.get(name)));
  });
  if (!fresh) return undefined;
  const { steps } = translate(
    { kind, frames, open },
    {
      names: client.names,
      portals: new Map<string, Prepared>(),
      // No life of the engine: it is parsed in whichever needs it.
      life: {},
      ownsUnnamed: false,
      inTransaction: false,
      refuse: () => undefined,
      drop: () => {},
      done: () => {},
    },
  );
  client.names.settled();
  if (steps.every(({ refusal, ends }) => refusal === undefined && ends === 'parse')) {
    return parses.map(() => parseComplete());
  }
  for (const { retract } of steps.reverse()) retract?.();
  return undefined;
}
