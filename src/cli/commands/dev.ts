import type { Command } from 'commander';
import { requireHandlers } from '../../config.js';
import { type Emulator, startEmulator } from '../../dev.js';
import { formatDuration } from '../../job/duration.js';
import { plural, visible } from '../../job/text.js';
import { printEvents } from '../lines.js';
import { type Invocation, readInvocation } from '../options.js';
import { INTERRUPTED, onInterrupt } from '../signals.js';
import { whenFree } from '../when-free.js';

/** `jobq-dev`: the emulator, until it is interrupted. */
export async function dev(command: Command): Promise<number> {
  return runEmulator(readInvocation(command));
}

/** Starts the emulator, prints what happens, and stops it when it is interrupted. */
export async function runEmulator(
  { config, output }: Invocation,
  whenReady: (emulator: Emulator) => Promise<void> = async () => {},
): Promise<number> {
  let stopNow: (() => void) | undefined;
  let emulator: Emulator | undefined;
  const interrupt = onInterrupt(
    () => {
      const running = emulator?.world.currentDrainer()?.held.length ?? 0;
      if (running > 0) {
        output.note(
          `stopping: ${plural(running, 'running job')} may finish within ${formatDuration(config.graceMs)}; Ctrl-C again ends them now`,
        );
      }
    },
    () => stopNow?.(),
  );
  try {
    if (config.handlersGiven) requireHandlers(config);
    emulator = await whenFree(config, () =>
      startEmulator(config, { command: 'jobq-dev', mayMovePort: output.onTerminal }),
    );
    const { world, url } = emulator;
    const stopPrinting = printEvents(world.events, output);
    sayReady({ config, output, flags: {} }, emulator);
    for (const { job } of await world.recovered) {
      if (output.quiet) break;
      output.line(
        `  recovered job ${job.id} ${visible(job.kind)}, left by a jobq-dev that was killed: ${job.status}`,
      );
    }
    await whenReady(emulator);
    if (!interrupt.signal.aborted) {
      await new Promise((resolve) =>
        interrupt.signal.addEventListener('abort', resolve, { once: true }),
      );
    }
    stopNow = () => void emulator?.stop({ graceMs: 0 });
    await emulator.stop({ graceMs: config.graceMs });
    stopPrinting();
    output.note(`stopped ${url}`);
    return INTERRUPTED;
  } finally {
    interrupt.release();
  }
}

/** The stable line that says the tool is ready, and where (docs/cli.md). */
function sayReady({ config, output }: Invocation, { world, url }: Emulator): void {
  const info = world.service.info();
  if (config.port !== 0 && !url.endsWith(`:${config.port}`)) {
    output.note(`port ${config.port} is taken; using ${url}`);
  }
  const { postgres } = info.urls;
  if (
    info.database.driver === 'pglite' &&
    config.pgPort !== 0 &&
    !postgres?.includes(`:${config.pgPort}/`)
  ) {
    output.note(
      `port ${config.pgPort} is taken; Postgres clients find the database at ${postgres}`,
    );
  }
  output.line(`jobq-dev ready at ${url}`);
  output.document({ event: 'ready', url, ...info });
  if (output.quiet) return;
  output.line(`  database  ${info.database.driver}, ${info.database.location}`);
  output.line(`  postgres  ${postgres}`);
  output.line(`  handlers  ${info.handlers}`);
  output.line(`  sandbox   ${info.sandbox.description}`);
  output.line(
    `  cron      ${info.cron.expression} (${info.cron.timezone}), next at ${info.cron.next_tick}`,
  );
}
