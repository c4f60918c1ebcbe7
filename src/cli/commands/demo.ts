import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { overHttp } from '../../api/client.js';
import { copyNew, FIXTURES } from '../../examples.js';
import { checkFixture } from '../../replay/fixture.js';
import { playLive } from '../../replay/live.js';
import { readInvocation } from '../options.js';
import { runEmulator } from './dev.js';
import { replayAll } from './replay.js';

const BURST = 'github-webhooks.jsonl';

/** How much faster than it was recorded the burst is played to a watcher. */
const SPEED = 10;

/**
 * `jobq-dev demo`: the example handlers and a burst of real webhook payloads in a scratch folder.
 * Watched live on a terminal; replayed to its end, with a report, elsewhere.
 */
export async function demo(command: Command): Promise<number> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'jobq-demo-'));
  const live = process.stdout.isTTY === true && !process.env.CI;
  const flags = command.opts<{ cron?: string; retry?: string }>();
  const invocation = readInvocation(command, {
    dataDir: path.join(scratch, '.jobq'),
    handlers: path.join(scratch, 'handlers'),
    // Nobody wants to watch a minute go by: ticks and retries come in seconds.
    ...(live && flags.cron === undefined && { cron: '*/5 * * * * *' }),
    ...(live && flags.retry === undefined && { retry: 'seconds' }),
  });
  const { output } = invocation;
  await copyNew(path.join(FIXTURES, 'handlers'), path.join(scratch, 'handlers'));
  await copyNew(path.join(FIXTURES, BURST), path.join(scratch, BURST));
  const fixture = path.join(scratch, BURST);
  const size = await checkFixture(fixture);
  output.note(`${size.jobs} jobs from real GitHub webhooks, with their handlers, in ${scratch}`);

  if (!live) {
    const outputDir = path.join(scratch, 'output');
    const status = await replayAll([fixture], [size], { ...invocation, flags: { outputDir } });
    output.note(`what the handlers wrote: ${outputDir}`);
    return status;
  }
  output.note(
    `Ctrl-C ends it. Look at its jobs from another shell: cd ${scratch} && npx jobq-dev jobs list`,
  );
  return runEmulator(invocation, ({ emulator: { url, world }, say, signal }) => {
    const send = overHttp(url, invocation.config.token);
    void playLive({ fixture, send, speed: SPEED, signal })
      .then(() => {
        if (!signal.aborted) say('the burst is all in; Ctrl-C ends the demo');
      })
      .catch((error: Error) => world.events.emit('warning', { message: error.message }));
  });
}
