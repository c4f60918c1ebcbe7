/**
 * The configuration: `jobq.config.json` < environment `JOBQ_*` < flags, validated once, here.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { JobqError, systemReason } from './errors.js';
import type { RetryPolicyName } from './job/retry.js';
import { checkJson, JsonFault } from './json.js';
import type { Keep } from './queue/prune.js';
import type { SandboxName } from './sandbox/port.js';
import { checkSettings, envName, flagName, SETTINGS, type Settings } from './settings.js';
import { didYouMean } from './suggest.js';

export interface Config {
  /** Where the configuration file was read, if one was. */
  file: string | undefined;
  /** Absolute. */
  dataDir: string;
  memory: boolean;
  databaseUrl: string | undefined;
  /** Absolute. */
  handlers: string;
  /** Whether `handlers` was asked for by name, or is the default. */
  handlersGiven: boolean;
  sandbox: SandboxName;
  namespaces: 'auto' | 'off' | 'require';
  /** The hosted sandboxes; `PANDASTACK_API` and `PANDASTACK_API_KEY`, as its own tools read them. */
  pandastack: { url: string | undefined; key: string | undefined; template: string };
  /** Jobs of one kind that one sandbox takes, one after the other. */
  jobsPerSandbox: number;
  /** MicroVMs kept restored ahead of need. */
  warm: number;
  /** Absolute; undefined: one that is found. */
  vmKernel: string | undefined;
  strict: boolean;
  cron: string;
  timezone: string;
  batch: number;
  concurrency: number;
  timeoutMs: number;
  sandboxTtlMs: number;
  memoryBytes: number;
  outputLimitBytes: number;
  leaseMs: number;
  graceMs: number;
  /** The oldest waiting job should not be older than this. */
  alertAgeMs: number;
  /** Whether the clock of a shared database's emulator may be moved ahead. */
  allowTimeTravel: boolean;
  /** Whether inserts are picked up at once, not at the next tick. */
  wake: boolean;
  /** What requests over HTTP must carry. */
  token: string | undefined;
  retry: RetryPolicyName;
  /** Which done jobs are kept. By default a local database stays small, and a server keeps all. */
  keep: Keep;
  seed: string | undefined;
  port: number;
  /** Whether `port` was asked for; only the default may move to a free one. */
  portGiven: boolean;
  /** For Postgres clients, on PGlite. A database server is its own. */
  pgPort: number;
  /** Whether `pgPort` was asked for. */
  pgPortGiven: boolean;
  /** How long a statement of a Postgres client may run. */
  pgStatementTimeoutMs: number;
  /** How long a transaction of one may be idle while others wait. */
  pgIdleInTransactionMs: number;
  /** SQL that sets up the database of handlers under test. Absolute. */
  testDatabase: string | undefined;
  /** What of a handler's doings its snapshot does not compare. */
  testMask: RegExp[];
  env: Record<string, string>;
  interpreters: Record<string, string[]>;
}

export const DEFAULT_PORT = 5627;
const DEFAULT_PG_PORT = 5628;
const KEPT_LOCALLY = { ageMs: 7 * 86_400_000, count: 10_000 };
export const CONFIG_FILE = 'jobq.config.json';

/** Names of the handler contract, and of other uses, that are no settings. */
const NOT_SETTINGS = /^JOBQ_(JOB_ID|KIND|ATTEMPT|MAX_ATTEMPTS|OUTPUT_DIR)$/;

export interface ConfigSources {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Flags by setting name; undefined ones are passed over. */
  flags: Partial<Record<keyof Settings, unknown>>;
  /** `--config`. */
  file?: string | undefined;
}

/**
 * Reads and validates everything.
 * @returns the configuration, and warnings for a person.
 * @throws JobqError `config`, naming the source, the key and the rule.
 */
export function loadConfig(sources: ConfigSources): { config: Config; warnings: string[] } {
  const { cwd, env, flags } = sources;
  const file = findFile(sources);
  const { fromEnv, warnings } = readEnvironment(env);
  const merged: Settings = {
    ...(file === undefined ? {} : checkSettings(readFile(file), (key) => `"${key}" in ${file}`)),
    ...checkSettings(fromEnv, (key) => envName(key)),
    ...checkSettings(defined(flags), flagName),
  };
  const base = file === undefined ? cwd : path.dirname(file);
  // A path in the file is relative to the file, one given otherwise to where one stands.
  const located = (key: 'dataDir' | 'handlers' | 'testDatabase' | 'vmKernel', fallback: string) =>
    path.resolve((flags[key] ?? fromEnv[key]) === undefined ? base : cwd, merged[key] ?? fallback);
  // Of two that exclude each other the flag wins over what lies further away.
  if (flags.memory === true && flags.databaseUrl === undefined) delete merged.databaseUrl;
  if (flags.databaseUrl !== undefined && flags.memory === undefined) delete merged.memory;
  if (merged.memory === true && merged.databaseUrl !== undefined) {
    throw new JobqError(
      'config',
      'memory and databaseUrl exclude each other',
      'Leave out --memory to use the database server, or --database-url to keep nothing.',
    );
  }
  const isLocal = merged.databaseUrl === undefined;
  const config: Config = {
    file,
    dataDir: located('dataDir', '.jobq'),
    memory: merged.memory ?? false,
    databaseUrl: merged.databaseUrl,
    handlers: located('handlers', 'handlers'),
    handlersGiven: merged.handlers !== undefined,
    sandbox: merged.sandbox ?? 'auto',
    namespaces: merged.namespaces ?? 'off',
    pandastack: {
      url: env.PANDASTACK_API,
      key: env.PANDASTACK_API_KEY,
      template: merged.pandastackTemplate ?? 'code-interpreter',
    },
    jobsPerSandbox: merged.jobsPerSandbox ?? 1,
    warm: merged.warm ?? 0,
    vmKernel: merged.vmKernel === undefined ? undefined : located('vmKernel', ''),
    strict: merged.strict ?? false,
    cron: merged.cron ?? '* * * * *',
    timezone: merged.timezone ?? 'UTC',
    batch: merged.batch ?? 20,
    concurrency: merged.concurrency ?? 4,
    timeoutMs: merged.timeout ?? 600_000,
    sandboxTtlMs: merged.sandboxTtl ?? 900_000,
    memoryBytes: merged.memoryLimit ?? 512 * 1024 ** 2,
    outputLimitBytes: merged.outputLimit ?? 1024 ** 2,
    leaseMs: merged.lease ?? 1_800_000,
    graceMs: merged.grace ?? 10_000,
    alertAgeMs: merged.alertAge ?? 300_000,
    allowTimeTravel: merged.allowTimeTravel ?? false,
    wake: merged.wake ?? false,
    token: merged.token,
    retry: merged.retry ?? 'minutes',
    keep: {
      ageMs: merged.keep ?? (isLocal ? KEPT_LOCALLY.ageMs : undefined),
      count: merged.keepJobs ?? (isLocal ? KEPT_LOCALLY.count : undefined),
    },
    seed: merged.seed,
    port: merged.port ?? DEFAULT_PORT,
    portGiven: merged.port !== undefined,
    // Whoever wants any free port wants that for both.
    pgPort: merged.pgPort ?? (merged.port === 0 ? 0 : DEFAULT_PG_PORT),
    pgPortGiven: merged.pgPort !== undefined,
    pgStatementTimeoutMs: merged.pgStatementTimeout ?? 60_000,
    pgIdleInTransactionMs: merged.pgIdleInTransaction ?? 30_000,
    testDatabase: merged.testDatabase && located('testDatabase', ''),
    testMask: (merged.testMask ?? []).map((text) => new RegExp(text, 'g')),
    env: chosenEnvironment(merged.env ?? {}, env),
    interpreters: merged.interpreters ?? {},
  };
  if (config.pgPortGiven && !isLocal) {
    warnings.push(
      'pgPort is not used with a database server: Postgres clients connect to the server itself',
    );
  }
  return { config, warnings };
}

function findFile({ cwd, file }: ConfigSources): string | undefined {
  if (file === undefined) {
    const standard = path.join(cwd, CONFIG_FILE);
    return existsSync(standard) ? standard : undefined;
  }
  const given = path.resolve(cwd, file);
  if (existsSync(given)) return given;
  throw new JobqError('config', `there is no configuration file ${given}`, 'Check --config.');
}

function readFile(file: string): Record<string, unknown> {
  const text = readText(file);
  try {
    checkJson(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new JobqError(
      'config',
      `${file}:${error.line}:${error.column}: ${error.reason}`,
      'The configuration is one JSON object; comments and trailing commas are not JSON.',
    );
  }
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new JobqError('config', `${file} is not a JSON object`, 'Start with {}.');
  }
  const { $schema: _schema, ...settings } = value as Record<string, unknown>;
  return settings;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new JobqError(
      'config',
      `cannot read the configuration ${file}: ${systemReason(error)}`,
      'It must be a file, and readable.',
      { cause: error },
    );
  }
}

function readEnvironment(env: NodeJS.ProcessEnv) {
  const fromEnv: Record<string, unknown> = {};
  const warnings: string[] = [];
  const names = new Map(
    Object.keys(SETTINGS.shape)
      .filter((key) => !['env', 'interpreters', 'testMask'].includes(key))
      .map((key) => [envName(key), key]),
  );
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('JOBQ_') || value === undefined || NOT_SETTINGS.test(name)) continue;
    const key = names.get(name);
    if (key === undefined) {
      const near = didYouMean(name, [...names.keys()]);
      warnings.push(`the environment variable ${name} is no setting of jobq-dev${near}`);
    } else if (value !== '') {
      fromEnv[key] = value;
    }
  }
  return { fromEnv, warnings };
}

/** `env` is a list of names to pass on, or an object of values. */
function chosenEnvironment(
  wanted: string[] | Record<string, string>,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  if (!Array.isArray(wanted)) return wanted;
  return Object.fromEntries(
    wanted.flatMap((name) => (Object.hasOwn(env, name) ? [[name, env[name]!]] : [])),
  );
}

function defined(flags: ConfigSources['flags']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

/**
 * Without a handlers directory nothing may be claimed: every job would use up its attempts for a
 * mistake of the command line.
 * @throws JobqError `config`
 */
export function requireHandlers(config: Config): void {
  if (existsSync(config.handlers)) return;
  throw new JobqError(
    'config',
    `the handlers directory ${config.handlers} does not exist`,
    'Say where the handlers are with --handlers, or make examples with jobq-dev init.',
  );
}
