/** The event stream from a client's side: read for as long as wanted, across breaks. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Open, refusal } from './client.js';
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
      const { status, body } = await open('/events', { headers, signal });
      if (status !== 200) throw new Refused(await refusalOf(status, body));
      onConnection?.(true);
      pause = FIRST_PAUSE_MS;
      for await (const { id, event, data } of readMessages(body)) {
        last = id ?? last;
        if (data === undefined) continue;
        yield { id: last, name: event, data: JSON.parse(data) } as StreamEvent;
      }
    } catch (error) {
      if (error instanceof Refused) throw error.cause;
    }
    if (signal.aborted) return;
    onConnection?.(false);
    await delay(pause, undefined, { signal }).catch(() => {});
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

class Refused extends Error {
  constructor(override readonly cause: Error) {
    super(cause.message);
  }
}

async function refusalOf(status: number, body: AsyncIterable<string>): Promise<Error> {
  let text = '';
  for await (const piece of body) text += piece;
  return refusal(status, text, 'GET /events');
}
