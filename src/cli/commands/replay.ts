import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { VirtualClock } from '../../clock.js';
import { requireHandlers } from '../../config.js';
import { migrate } from '../../db/migrate.js';
import { openDatabase } from '../../db/open.js';
import type { Database } from '../../db/port.js';
import { Drainer } from '../../drain/drainer.js';
import { attemptSettings, drainSettings, makeProvider } from '../../drain-config.js';
import { JobqError } from '../../errors.js';
import { Events } from '../../events.js';
import { formatDuration } from '../../job/duration.js';
import { plural } from '../../job/text.js';
import { checkFixture } from '../../replay/fixture.js';
import { playLive } from '../../replay/live.js';
import { replay as play } from '../../replay/replay.js';
import type { ReplayReport } from '../../replay/report.js';
import type { SandboxProvider } from '../../sandbox/port.js';
import { createSchedule } from '../../schedule.js';
import { flagName } from '../../settings.js';
import { connect } from '../connect.js';
import { withHandlersBeside } from '../handlers-beside.js';
import { type Invocation, readInvocation } from '../options.js';
import { printReport } from '../report.js';
import { INTERRUPTED, onInterrupt } from '../signals.js';

export interface ReplayFlags {
  live?: boolean;
  speed?: string;
  timing?: 'standing' | 'measured';
  start?: string;
  outputDir?: string;
  databaseUrl?: string;
}

/** `jobq-dev replay FIXTURE…` */
export async function replay(fixtures: string[], command: Command): Promise<number> {
  const invocation = readInvocation<ReplayFlags>(command);
  refuseIdleFlags(invocation.flags);
  // Every line of every fixture is checked before anything is inserted.
  const sizes = [];
  for (const fixture of fixtures) sizes.push(await checkFixture(fixture));
  if (invocation.flags.live) return sendLive(fixtures, invocation);
  return replayAll(fixtures, sizes, invocation);
}

/** A flag that would do nothing is a mistake: its user expects it to do something. */
function refuseIdleFlags(flags: ReplayFlags): void {
  const idle = flags.live
    ? (['timing', 'start', 'outputDir'] as const).find((name) => flags[name] !== undefined)
    : (['speed', 'databaseUrl'] as const).find((name) => flags[name] !== undefined);
  if (idle === undefined) return;
  throw new JobqError(
    'usage',
    `${flagName(idle)} has no meaning ${flags.live ? 'with' : 'without'} --live`,
    'A replay runs on a database and a clock of its own; --live sends to the emulator in real time.',
  );
}

/** Replays fixtures one after the other, each on an empty table, and prints their reports. */
export async function replayAll(
  fixtures: readonly string[],
  sizes: readonly { jobs: number }[],
  invocation: Invocation<ReplayFlags>,
): Promise<number> {
  const { config, output, flags } = invocation;
  const outputRoot = path.resolve(
    flags.outputDir ?? path.join(config.dataDir, `replay-${process.pid}`),
  );
  const interrupt = onInterrupt(() => output.note('stopping the replay'));
  let db: Database | undefined;
  let provider: SandboxProvider | undefined;
  const reports: ReplayReport[] = [];
  try {
    provider = await makeProvider(config, (message) => output.warn(message));
    ({ db } = await openDatabase({ memory: true, command: 'jobq-dev replay' }));
    await migrate(db);
    for (const [index, fixture] of fixtures.entries()) {
      if (index > 0) await db.exec('truncate jobs, job_attempts restart identity');
      const outputDir = fixtures.length === 1 ? outputRoot : path.join(outputRoot, String(index));
      await mkdir(outputDir, { recursive: true });
      const report = await playOne(fixture, sizes[index]!.jobs, {
        invocation: { ...invocation, config: withHandlersBeside(config, fixture) },
        db,
        provider,
        outputDir,
        signal: interrupt.signal,
      });
      reports.push(report);
      printReport(report, output);
    }
  } finally {
    await provider?.close();
    await db?.close();
    if (flags.outputDir === undefined) await rm(outputRoot, { recursive: true, force: true });
    interrupt.release();
  }
  output.document(reports.length === 1 ? reports[0] : reports);
  if (interrupt.interrupted) return INTERRUPTED;
  return reports.every(passed) ? 0 : 1;
}

/** Whether every job ended, and ended as it should. */
export function passed(report: ReplayReport): boolean {
  return report.failures.length === 0 && !report.interrupted;
}

async function playOne(
  fixture: string,
  jobs: number,
  world: {
    invocation: Invocation<ReplayFlags>;
    db: Database;
    provider: SandboxProvider;
    outputDir: string;
    signal: AbortSignal;
  },
): Promise<ReplayReport> {
  const { invocation, db, provider, outputDir, signal } = world;
  const { config, output, flags } = invocation;
  requireHandlers(config);
  const clock = new VirtualClock(startOf(flags));
  const events = new Events();
  const startedAt = performance.now();
  return play({
    fixture,
    db,
    clock,
    events,
    schedule: createSchedule(config.cron, config.timezone),
    timing: flags.timing ?? 'standing',
    makeDrainer: (beforeClaim) =>
      new Drainer({
        ...drainSettings(config),
        // The same burst gives the same jitter, unless another seed is asked for.
        seed: config.seed ?? 'replay',
        db,
        clock,
        events,
        provider: () => provider,
        attempt: attemptSettings(config, outputDir),
        patienceMs: 0,
        beforeClaim,
      }),
    onProgress: ({ settled, virtualMs }) =>
      output.progress(
        `${settled} of ${jobs} jobs settled · ${formatDuration(virtualMs)} of virtual time · ${formatDuration(performance.now() - startedAt)}`,
      ),
    signal,
  });
}

/** A fixed start, so that the same burst meets the same ticks every time. */
const START = '2026-01-01T00:00:00Z';

function startOf(flags: ReplayFlags): Date {
  const start = new Date(flags.start ?? START);
  if (!Number.isNaN(start.getTime())) return start;
  throw new JobqError(
    'usage',
    `--start is ${JSON.stringify(flags.start)}, which is no time`,
    'Give an ISO 8601 time, e.g. --start 2026-03-08T06:00:00Z.',
  );
}

async function sendLive(
  fixtures: readonly string[],
  { config, output, flags }: Invocation<ReplayFlags>,
): Promise<number> {
  const speed = Number(flags.speed ?? 1);
  if (!(speed > 0)) {
    throw new JobqError(
      'usage',
      `--speed is ${JSON.stringify(flags.speed)}: it must be a number above 0`,
      'For example --speed 10 sends ten seconds of the burst in one.',
    );
  }
  const connection = await connect(config, 'jobq-dev replay');
  if (connection.emulator === undefined && config.databaseUrl === undefined) {
    await connection.close();
    throw new JobqError(
      'emulator-unreachable',
      `no emulator is running in ${config.dataDir}`,
      'Start it first (npx jobq-dev), or leave out --live to replay on a virtual clock.',
    );
  }
  const interrupt = onInterrupt(() => output.note('stopping; what was sent stays in the table'));
  let sent = 0;
  try {
    for (const fixture of fixtures) {
      sent += await playLive({
        fixture,
        send: connection.send,
        speed,
        signal: interrupt.signal,
        onSent: (count, atMs) =>
          output.progress(`${sent + count} jobs sent · ${formatDuration(atMs)} into the burst`),
      });
    }
    output.document({ sent });
    output.line(
      `${plural(sent, 'job')} sent to ${connection.emulator?.url ?? 'the database'}; "expect" is checked without --live only`,
    );
    output.line('See what becomes of them: jobq-dev stats, jobq-dev jobs list');
    return interrupt.interrupted ? INTERRUPTED : 0;
  } finally {
    interrupt.release();
    await connection.close();
  }
}
