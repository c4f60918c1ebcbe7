import type { Command } from 'commander';
import type { Link } from '../../../ui/emulator.js';
import { ask } from '../../api/client.js';
import { followEvents } from '../../api/follow-events.js';
import { JobqError } from '../../errors.js';
import { connectToEmulator, toEmulator } from '../emulator.js';
import { type Invocation, readInvocation } from '../options.js';
import { closeScreen, loadScreen, type ScreenFlags, wantsScreen } from '../screen.js';
import { INTERRUPTED, onInterrupt } from '../signals.js';

/**
 * `jobq-dev attach [url]`: the screen for an emulator that runs elsewhere on this machine; where
 * there is no terminal, what happens there as lines.
 */
export async function attach(url: string | undefined, command: Command): Promise<number> {
  const invocation = readInvocation<ScreenFlags>(command);
  const { config, output, flags } = invocation;
  const given = url === undefined ? undefined : { url: checkUrl(url), pid: 0 };
  // An emulator that was started again may answer elsewhere: it is found anew for each request.
  const find = () => (given === undefined ? connectToEmulator(config) : toEmulator(given, config));
  const place = find().emulator.url;
  const link: Link = {
    send: async (...request) => find().send(...request),
    open: async (...request) => find().open(...request),
  };
  await ask(link.send, 'GET', '/info');
  const interrupt = onInterrupt(() => {});
  try {
    if (!wantsScreen(output, flags)) {
      await printEvents(link, interrupt.signal, invocation);
      return INTERRUPTED;
    }
    const open = await loadScreen();
    const screen = open({ link, place, onQuit: interrupt.raise });
    const failure = await Promise.race([aborted(interrupt.signal), screen.closed]);
    closeScreen(screen, output);
    if (failure !== undefined) throw failure;
    return 0;
  } finally {
    interrupt.release();
  }
}

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:') return url.origin;
  throw new JobqError(
    'usage',
    `${JSON.stringify(text)} is no address of an emulator`,
    'Give what its ready line says, e.g. http://127.0.0.1:5627.',
  );
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** Writes each event as a line, or as a JSON document, until the signal. */
async function printEvents(
  { open }: Link,
  signal: AbortSignal,
  { output }: Pick<Invocation, 'output'>,
): Promise<void> {
  const { feedEntry } = await import('../../../ui/store/feed.js');
  const { timeOfDay } = await import('../../../ui/text/figures.js');
  const onConnection = (connected: boolean) => {
    if (!connected && !signal.aborted) output.note('the emulator is not heard; waiting for it');
  };
  for await (const event of followEvents(open, { signal, onConnection })) {
    output.document({ event: event.name, id: event.id, ...event.data });
    const entry = feedEntry(event);
    if (entry === undefined) continue;
    const job = entry.job === undefined ? '' : `job ${entry.job} ${entry.kind ?? ''}  `;
    output.line(`${timeOfDay(entry.at)} ${entry.word.padEnd(9)}${job}${entry.text}`);
  }
}
