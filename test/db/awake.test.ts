import { MessageChannel } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { nextMessage } from '#src/db/awake.js';

it('takes the messages that are there in order, and does not wait for long for one that is not', () => {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage('first');
  port1.postMessage('second');
  expect([nextMessage(port2), nextMessage(port2), nextMessage(port2)]).toEqual([
    'first',
    'second',
    undefined,
  ]);
  port1.close();
});
