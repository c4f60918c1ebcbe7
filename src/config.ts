/**
 * The configuration: `jobq.config.json` < environment `JOBQ_*` < flags, validated once, here.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { JobqError } from './errors.js';
import { parseDuration } from './job/duration.js';
import { RETRY_POLICIES, type RetryPolicyName } from './job/retry.js';
import { checkJson, JsonFault } from './json.js';
import type { Keep } from './queue/prune.js';
import { createSchedule } from './schedule.js';
import { didYouMean } from './suggest.js';

/** Text or a number that `read` makes something of; `rule` says what it must be. */
function readable(rule: string, read: (text: string) => number | undefined) {
  return z.union([z.string(), z.number()], rule).transform((value, context) => {
    const found = read(String(value));
    if (found !== undefined && found > 0) return found;
    context.addIssue({ code: 'custom', message: rule });
    return z.NEVER;
  });
}

const duration = readable(
  'must be a duration such as "500ms", "90s", "5m" or "1h30m"',
  parseDuration,
);

const BYTES: Record<string, number> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

const size = readable('must be a size such as "512MiB" or "1g"', (text) => {
  const [, amount, unit] = /^(\d+)\s*([kmg]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
  const bytes = Number(amount) * (BYTES[unit?.toLowerCase() ?? ''] ?? 1);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
});

/** A number, or the text of one: flags and environment have only texts. */
function whole(least: number, most: number, what = 'a whole number') {
  const rule = `must be ${what} from ${least} to ${most}`;
  const text = z.string().regex(/^\d+$/).transform(Number);
  return z.union([z.number(), text], rule).pipe(z.int(rule).min(least, rule).max(most, rule));
}

const flag = z.union(
  [
    z.boolean(),
    z.enum(['true', 'false', '1', '0', '']).transform((text) => text === 'true' || text === '1'),
  ],
  'must be true or false',
);
const name = z.string('must be text').min(1, 'may not be empty');
const PROGRAM = 'must be a program, or a list of a program and its arguments';
const program = z.union(
  [name.transform((text) => [text]), z.array(z.string('must be text')).min(1, PROGRAM)],
  PROGRAM,
);
/** Text that an environment can hold. */
const variable = z.string('must be text').regex(/^[^\0]*$/, 'may not hold a NUL');
const variableName = z
  .string('must be text')
  .regex(/^[^=\0]+$/, 'must be the name of an environment variable');

/** Checks a setting by making a schedule of it. */
const schedule = (make: (text: string) => void) =>
  name.superRefine((text, context) => {
    try {
      make(text);
    } catch (error) {
      if (!(error instanceof JobqError)) throw error;
      context.addIssue({
        code: 'custom',
        message: error.message,
        params: { hint: error.hint },
      });
    }
  });

export const SANDBOXES = ['auto', 'process', 'qemu', 'pandastack'] as const;
export type SandboxName = (typeof SANDBOXES)[number];

/** Every setting, under the name it has in `jobq.config.json`; lower-case units are noted. */
const SETTINGS = z.strictObject({
  dataDir: name.optional(),
  memory: flag.optional(),
  databaseUrl: name.optional(),
  handlers: name.optional(),
  sandbox: z.enum(SANDBOXES).optional(),
  namespaces: z.enum(['auto', 'off', 'require']).optional(),
  strict: flag.optional(),
  cron: schedule((text) => createSchedule(text, 'UTC')).optional(),
  timezone: schedule((text) => createSchedule('* * * * *', text)).optional(),
  batch: whole(1, 10_000).optional(),
  concurrency: whole(1, 1_000).optional(),
  timeout: duration.optional(),
  sandboxTtl: duration.optional(),
  memoryLimit: size.optional(),
  outputLimit: size.optional(),
  lease: duration.optional(),
  grace: duration.optional(),
  retry: z.enum(Object.keys(RETRY_POLICIES) as [RetryPolicyName]).optional(),
  keep: duration.optional(),
  keepJobs: whole(1, 10_000_000).optional(),
  seed: z.string('must be text').optional(),
  port: whole(0, 65_535, 'a port number').optional(),
  env: z
    .union(
      [z.array(variableName), z.record(variableName, variable)],
      'must be a list of names to pass on, or an object of values',
    )
    .optional(),
  interpreters: z
    .record(
      z.string().regex(/^\.\w+$/, 'must be an extension such as ".py"'),
      program,
      'must be an object of programs by extension',
    )
    .optional(),
});

export type Settings = z.output<typeof SETTINGS>;

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
  retry: RetryPolicyName;
  /** Which done jobs a local database keeps. */
  keep: Keep;
  seed: string | undefined;
  port: number;
  /** Whether `port` was asked for; only the default may move to a free one. */
  portGiven: boolean;
  env: Record<string, string>;
  interpreters: Record<string, string[]>;
}

export const DEFAULT_PORT = 5627;
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
    ...(file === undefined ? {} : validate(readFile(file), (key) => `"${key}" in ${file}`)),
    ...validate(fromEnv, (key) => envName(key)),
    ...validate(defined(flags), flagName),
  };
  const base = file === undefined ? cwd : path.dirname(file);
  // A path in the file is relative to the file, one given otherwise to where one stands.
  const located = (key: 'dataDir' | 'handlers', fallback: string) =>
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
  const config: Config = {
    file,
    dataDir: located('dataDir', '.jobq'),
    memory: merged.memory ?? false,
    databaseUrl: merged.databaseUrl,
    handlers: located('handlers', 'handlers'),
    handlersGiven: merged.handlers !== undefined,
    sandbox: merged.sandbox ?? 'auto',
    namespaces: merged.namespaces ?? 'off',
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
    retry: merged.retry ?? 'minutes',
    keep: { ageMs: merged.keep ?? 7 * 86_400_000, count: merged.keepJobs ?? 10_000 },
    seed: merged.seed,
    port: merged.port ?? DEFAULT_PORT,
    portGiven: merged.port !== undefined,
    env: chosenEnvironment(merged.env ?? {}, env),
    interpreters: merged.interpreters ?? {},
  };
  return { config, warnings };
}

/** The JSON schema of `jobq.config.json`, for editors. */
export function configSchema(): object {
  const schema = z.toJSONSchema(SETTINGS, { io: 'input', unrepresentable: 'any' });
  return {
    ...schema,
    title: CONFIG_FILE,
    properties: { $schema: { type: 'string' }, ...schema.properties },
  };
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
      `cannot read the configuration ${file}: ${(error as NodeJS.ErrnoException).code}`,
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
      .filter((key) => key !== 'env' && key !== 'interpreters')
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

function validate(values: Record<string, unknown>, name: (key: string) => string): Settings {
  const parsed = SETTINGS.safeParse(values);
  if (parsed.success) return parsed.data;
  const issue = mostTelling(parsed.error.issues[0]!);
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const known = Object.keys(SETTINGS.shape);
    throw new JobqError(
      'config',
      `unknown setting ${name(key)}${didYouMean(key, known)}`,
      `Known settings: ${known.join(', ')}.`,
    );
  }
  const [key, ...inner] = issue.path;
  const where = [name(String(key)), ...inner.map(shown)].join(': ');
  if (issue.code === 'custom' && issue.params !== undefined) {
    throw new JobqError('config', `${where}: ${issue.message}`, issue.params.hint);
  }
  throw new JobqError(
    'config',
    issue.code === 'invalid_key'
      ? `${where} ${issue.issues[0]!.message}`
      : `${where} is ${JSON.stringify(valueAt(values, issue.path))}: ${rule(issue, values)}`,
    'docs/configuration.md lists every setting with its values.',
  );
}

/** Of an issue with alternatives, that of the one which went deepest: what was meant. */
function mostTelling(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const [inner] = issue.errors
    .flatMap((issues) => issues.slice(0, 1))
    .map(mostTelling)
    .sort((a, b) => b.path.length - a.path.length);
  return inner === undefined || inner.path.length === 0
    ? issue
    : { ...inner, path: [...issue.path, ...inner.path] };
}

function shown(key: PropertyKey): string {
  return typeof key === 'number' ? `item ${key + 1}` : JSON.stringify(key);
}

function valueAt(values: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value, key) => (value as Record<PropertyKey, unknown>)[key], values);
}

function rule(issue: z.core.$ZodIssue, values: unknown): string {
  if (issue.code !== 'invalid_value') return issue.message;
  const known = issue.values.map(String);
  const given = valueAt(values, issue.path);
  const near = typeof given === 'string' ? didYouMean(given, known) : '';
  return `must be one of ${known.join(', ')}${near}`;
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

function envName(key: string): string {
  return `JOBQ_${kebab(key).replaceAll('-', '_').toUpperCase()}`;
}

function flagName(key: string): string {
  return `--${kebab(key)}`;
}

function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
