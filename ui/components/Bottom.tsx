import { useScreen } from '../hooks/use-screen.js';
import type { Layout } from '../layout.js';
import { keyLine } from '../lines/key-line.js';
import { messageLine } from '../lines/message-line.js';
import { Lines } from './Lines.js';

/** The bottom of the screen: a question or a message, and the keys. */
export function Bottom({ layout }: { layout: Layout }) {
  const state = useScreen();
  const message = messageLine(state);
  const lines = layout.message > 0 ? [message ?? [], keyLine(state)] : [message ?? keyLine(state)];
  return <Lines lines={lines} width={state.columns} />;
}
