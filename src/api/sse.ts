/** Server-sent events as text: written here, read by the client (html.spec.whatwg.org, 9.2). */
import type { StreamEvent } from './contract.js';

/**
 * Messages of batches; an empty batch becomes a comment that keeps the connection alive.
 * @param from the id of the event before the first one: said at once, so that the reader knows that
 *   it is connected, and where to go on if that was all it heard.
 */
export async function* eventStream(
  from: string,
  batches: AsyncIterable<StreamEvent[]>,
): AsyncGenerator<string> {
  yield `id: ${from.replace(/[^\w-]/g, '')}\n\n`;
  for await (const batch of batches) {
    yield batch.length === 0 ? ': still here\n\n' : batch.map(message).join('');
  }
}

function message({ id, name, data }: StreamEvent): string {
  // JSON text has no line breaks, so one data line holds it.
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

export interface Message {
  id: string | undefined;
  event: string;
  /** undefined where a message only says an id. */
  data: string | undefined;
}

/** Reads messages out of the text of a stream, however it is cut. Comments are passed over. */
export async function* readMessages(text: AsyncIterable<string>): AsyncGenerator<Message> {
  let rest = '';
  for await (const piece of text) {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map(field));
      const [id, data] = [fields.get('id'), fields.get('data')];
      if (id === undefined && data === undefined) continue;
      yield { id, event: fields.get('event') ?? 'message', data };
    }
  }
}

function field(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}
