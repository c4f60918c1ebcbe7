/** The event stream from a client's side: read for as long as wanted, across breaks. */
import { setTimeout as delay } from 'node:timers/promises';
import { JobqError } from '../errors.js';
import { type Open, openText } from './client.js';
import type { StreamEvent } from './contract.js';
import { readMessages } from './sse.js';

export interface FollowEvents {
  /** The id of the last event that is known (`event_id` of an overview); undefined: from now on. */
  after?: string | undefined;
  signal: AbortSignal;
  /** Told when the stream is there, and when it broke. */
  onConnection?: (connected: boolean) => void;
}

/** Pauses before the stream is opened again. Milliseconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Events as they arrive, until the signal. A stream that broke is opened again where it
 * broke; a `reset` among the events says that some are missing.
 * @throws JobqError when the emulator refuses the stream.
 */
export async function* followEvents(
  open: Open,
  { after, signal, onConnection }: FollowEvents,
): AsyncGenerator<StreamEvent> {
  let last = after;
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; ) {
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last };
      const body = await openText(open, '/events', { headers, signal });
      let begun = false;
      for await (const { id, event, data } of readMessages(body)) {
        last = id ?? last;
        // The first message says where the stream begins: from here on nothing can be lost.
        if (!begun) onConnection?.(true);
        begun = true;
        pause = FIRST_PAUSE_MS;
        if (data === undefined) continue;
        yield { id: last, name: event, data: JSON.parse(data) } as StreamEvent;
      }
    } catch (error) {
      if (isRefusal(error)) throw error;
    }
    if (signal.aborted) return;
    onConnection?.(false);
    await delay(pause, undefined, { signal }).catch(() => {});
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** The emulator's own no. Anything else is a break: it is starting, ending or out of reach. */
function isRefusal(error: unknown): boolean {
  return error instanceof JobqError && error.code !== 'emulator-unreachable';
}
