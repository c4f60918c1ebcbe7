/** Flags that several commands share, and from them the configuration. */
import { type Command, Option } from 'commander';
import { type Config, loadConfig } from '../config.js';
import { RETRY_POLICIES } from '../job/retry.js';
import { SANDBOXES } from '../sandbox/port.js';
import type { Settings } from '../settings.js';
import { Output } from './output.js';

const names = (options: readonly string[]) => options.join('|');

const OUTPUT = [
  new Option('--json', 'one JSON document (or JSON Lines) on stdout'),
  new Option('--quiet', 'only results, warnings and errors'),
  new Option('--verbose', 'more detail; stack traces of errors'),
];

const PLACE = [
  new Option('--config <file>', 'configuration file (default: jobq.config.json)'),
  new Option('--data-dir <dir>', 'where everything local is kept (default: .jobq)'),
];

const DATABASE = [
  ...PLACE,
  new Option('--memory', 'keep nothing: a database in memory'),
  new Option('--database-url <url>', 'a Postgres server instead of the local database'),
  new Option('--token <text>', 'what requests over HTTP must carry; better set JOBQ_TOKEN'),
];

const HANDLERS = [new Option('--handlers <dir>', 'handler scripts (default: handlers)')];

const ATTEMPT = [
  ...HANDLERS,
  new Option('--sandbox <name>', `${names(SANDBOXES)} (default: auto)`),
  new Option('--namespaces <when>', 'bubblewrap around handlers: auto|off|require (default: off)'),
  new Option('--jobs-per-sandbox <n>', 'jobs of a kind that share a microVM (default: 1)'),
  new Option('--warm <n>', 'microVMs kept ready ahead of need (default: 0)'),
  new Option('--timeout <duration>', 'limit of one attempt (default: 600s)'),
  new Option('--strict', 'fail where a limit that is asked for is not enforced'),
  new Option('--memory-limit <size>', 'limit of one attempt (default: 512MiB)'),
];

const DRAIN = [
  ...ATTEMPT,
  new Option('--cron <schedule>', 'when the drainer wakes (default: "* * * * *")'),
  new Option('--timezone <zone>', 'time zone of the schedule (default: UTC)'),
  new Option('--batch <n>', 'rows claimed at a time, at most (default: 20)'),
  new Option('--concurrency <n>', 'attempts at a time (default: 4)'),
  new Option('--lease <duration>', 'how long a claim lives without a heartbeat (default: 30m)'),
  new Option('--retry <policy>', `${names(Object.keys(RETRY_POLICIES))} (default: minutes)`),
  new Option('--seed <text>', 'makes the jitter of retries repeatable'),
];

const LIFE = [
  new Option('--grace <duration>', 'how long Ctrl-C lets running jobs finish (default: 10s)'),
];
/** Not a setting: it is about this terminal. */
export const NO_TUI = new Option('--no-tui', 'plain lines on a terminal, too');

const EMULATOR = [
  new Option('--port <n>', 'HTTP port, 0 for any free one (default: 5627)'),
  new Option('--pg-port <n>', 'port for Postgres clients, 0 for any free one (default: 5628)'),
  new Option('--alert-age <duration>', 'when the oldest waiting job is too old (default: 5m)'),
  new Option('--wake', 'pick up inserts at once; production waits for its cron'),
  NO_TUI,
  new Option('--allow-time-travel', 'let advance work on a --database-url too'),
];

const KEEP = [
  new Option('--keep <duration>', 'delete those that finished longer ago (local default: 7d)'),
  new Option('--keep-jobs <n>', 'of the newest keep so many (local default: 10000)'),
];

const GROUPS = {
  place: PLACE,
  database: DATABASE,
  handlers: HANDLERS,
  attempt: ATTEMPT,
  drain: DRAIN,
  life: LIFE,
  emulator: EMULATOR,
  keep: KEEP,
};

export type OptionGroup = keyof typeof GROUPS;

/** Adds `--json --quiet --verbose` and the groups named. */
export function withOptions(command: Command, ...groups: OptionGroup[]): Command {
  for (const group of groups) for (const option of GROUPS[group]) command.addOption(option);
  for (const option of OUTPUT) command.addOption(option);
  return command;
}

/** Flags that are settings, by the setting's name. */
const SETTING_FLAGS: (keyof Settings)[] = [
  'dataDir',
  'memory',
  'databaseUrl',
  'handlers',
  'sandbox',
  'namespaces',
  'strict',
  'vmKernel',
  'warm',
  'jobsPerSandbox',
  'cron',
  'timezone',
  'batch',
  'concurrency',
  'timeout',
  'memoryLimit',
  'lease',
  'retry',
  'keep',
  'keepJobs',
  'seed',
  'grace',
  'alertAge',
  'allowTimeTravel',
  'token',
  'wake',
  'port',
  'pgPort',
];

export interface Invocation<Flags = Record<string, unknown>> {
  config: Config;
  output: Output;
  flags: Flags;
}

/**
 * What a command was called with.
 * @param overrides settings that the command itself decides.
 * @throws JobqError `config`
 */
export function readInvocation<Flags = Record<string, unknown>>(
  command: Command,
  overrides: Partial<Record<keyof Settings, unknown>> = {},
): Invocation<Flags> {
  const flags = command.optsWithGlobals() as Record<string, unknown>;
  const output = new Output(flags);
  const { config, warnings } = loadConfig({
    cwd: process.cwd(),
    env: process.env,
    file: flags.config as string | undefined,
    flags: {
      ...Object.fromEntries(SETTING_FLAGS.map((name) => [name, flags[name]])),
      ...overrides,
    },
  });
  for (const warning of warnings) output.warn(warning);
  return { config, output, flags: flags as Flags };
}
