import type { Command } from 'commander';
import { requireHandlers } from '../../config.js';
import { type Emulator, startEmulator } from '../../dev.js';
import { formatDuration } from '../../job/duration.js';
import { plural, shownKind } from '../../job/text.js';
import { type Invocation, readInvocation } from '../options.js';
import { loadScreen, type OpenScreen, type ScreenFlags, wantsScreen } from '../screen.js';
import { type Show, showLines, showScreen } from '../show.js';
import { INTERRUPTED, onInterrupt } from '../signals.js';
import { whenFree } from '../when-free.js';

/** `jobq-dev`: the emulator, until it is interrupted. */
export async function dev(command: Command): Promise<number> {
  return runEmulator(readInvocation<ScreenFlags>(command));
}

/** What is done once the emulator is ready. */
export interface Ready {
  emulator: Emulator;
  /** A word to whoever watches. */
  say: (text: string) => void;
  /** Aborted when the emulator is to stop. */
  signal: AbortSignal;
}

/** Starts the emulator, shows what happens, and stops it when it is interrupted. */
export async function runEmulator(
  invocation: Invocation<ScreenFlags>,
  whenReady: (ready: Ready) => void = () => {},
): Promise<number> {
  const { config, output, flags } = invocation;
  let stopNow: (() => void) | undefined;
  let emulator: Emulator | undefined;
  let show: Show | undefined;
  const interrupt = onInterrupt(
    () => {
      const running = emulator?.world.currentDrainer()?.held.length ?? 0;
      if (running > 0) {
        show?.stopping(
          `stopping: ${plural(running, 'running job')} may finish within ${formatDuration(config.graceMs)}; Ctrl-C again ends them now`,
        );
      }
    },
    () => stopNow?.(),
  );
  try {
    if (config.handlersGiven) requireHandlers(config);
    let screen: Promise<OpenScreen> | undefined;
    emulator = await whenFree(config, () => {
      const starting = startEmulator(config, {
        command: 'jobq-dev',
        mayMovePort: output.onTerminal,
      });
      // While the database opens.
      if (wantsScreen(output, flags)) screen ??= loadScreen();
      return starting;
    });
    sayReady(invocation, emulator);
    for (const { job } of await emulator.world.recovered) {
      if (output.quiet) break;
      output.line(
        `  recovered job ${job.id} ${shownKind(job.kind)}, left by a jobq-dev that was killed: ${job.status}`,
      );
    }
    show =
      screen && !interrupt.interrupted
        ? await showScreen(emulator, output, await screen, interrupt.raise)
        : showLines(emulator, output);
    whenReady({ emulator, say: show.say, signal: interrupt.signal });
    if (!interrupt.signal.aborted) {
      await new Promise((resolve) =>
        interrupt.signal.addEventListener('abort', resolve, { once: true }),
      );
    }
    stopNow = () => void emulator?.stop({ graceMs: 0 });
    await emulator.stop({ graceMs: config.graceMs });
    show.end();
    show = undefined;
    output.note(`stopped ${emulator.url}`);
    return INTERRUPTED;
  } finally {
    show?.end();
    interrupt.release();
  }
}

/** The stable line that says the tool is ready, and where (docs/cli.md). */
function sayReady(
  { config, output }: Pick<Invocation, 'config' | 'output'>,
  { world, url }: Emulator,
): void {
  const info = world.service.info();
  if (config.port !== 0 && !url.endsWith(`:${config.port}`)) {
    output.note(`port ${config.port} is taken; using ${url}`);
  }
  const { postgres } = info.urls;
  const isLocal = info.database.driver === 'pglite';
  if (isLocal && config.pgPort !== 0 && !postgres?.includes(`:${config.pgPort}/`)) {
    output.note(
      `port ${config.pgPort} is taken; Postgres clients find the database at ${postgres}`,
    );
  }
  output.line(`jobq-dev ready at ${url}`);
  output.document({ event: 'ready', url, ...info });
  if (output.quiet) return;
  output.line(`  database  ${info.database.driver}, ${info.database.location}`);
  output.line(`  postgres  ${isLocal ? '' : 'the server itself: '}${postgres}`);
  output.line(`  handlers  ${info.handlers}`);
  output.line(`  sandbox   ${info.sandbox.description}`);
  output.line(
    `  cron      ${info.cron.expression} (${info.cron.timezone}), next at ${info.cron.next_tick}`,
  );
  output.line(
    info.cron.wake
      ? '  inserts   are picked up at once (--wake); in production they wait for the cron'
      : '  inserts   wait for the next tick, as in production; --wake picks them up at once',
  );
}
