/** Every setting: its name, what it may be, and what is said of a value that it may not be. */
import { z } from 'zod';
import { JobqError } from './errors.js';
import { parseDuration } from './job/duration.js';
import { RETRY_POLICIES, type RetryPolicyName } from './job/retry.js';
import { SANDBOXES } from './sandbox/port.js';
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
/** A regular expression, as text. */
const pattern = z.string('must be text').refine((text) => {
  try {
    return Boolean(new RegExp(text));
  } catch {
    return false;
  }
}, 'must be a regular expression');
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

/** Every setting, under the name it has in `jobq.config.json`; lower-case units are noted. */
export const SETTINGS = z.strictObject({
  dataDir: name.optional(),
  memory: flag.optional(),
  databaseUrl: name.optional(),
  handlers: name.optional(),
  sandbox: z.enum(SANDBOXES).optional(),
  namespaces: z.enum(['auto', 'off', 'require']).optional(),
  vmKernel: name.optional(),
  warm: whole(0, 100).optional(),
  jobsPerSandbox: whole(1, 1_000).optional(),
  pandastackTemplate: name.optional(),
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
  alertAge: duration.optional(),
  allowTimeTravel: flag.optional(),
  wake: flag.optional(),
  token: z
    .string('must be text')
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters, without blanks')
    .optional(),
  retry: z.enum(Object.keys(RETRY_POLICIES) as [RetryPolicyName]).optional(),
  keep: duration.optional(),
  keepJobs: whole(0, 10_000_000).optional(),
  seed: z.string('must be text').optional(),
  port: whole(0, 65_535, 'a port number').optional(),
  pgPort: whole(0, 65_535, 'a port number').optional(),
  pgStatementTimeout: duration.optional(),
  pgIdleInTransaction: duration.optional(),
  testDatabase: name.optional(),
  testMask: z.array(pattern, 'must be a list of regular expressions').optional(),
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

/** The JSON schema of `jobq.config.json`, for editors. */
export function configSchema(): object {
  const schema = z.toJSONSchema(SETTINGS, { io: 'input', unrepresentable: 'any' });
  return {
    ...schema,
    title: 'jobq.config.json',
    properties: { $schema: { type: 'string' }, ...schema.properties },
  };
}

/**
 * @param name how a key is called where the values come from: a flag, a variable, a file's key.
 * @throws JobqError `config`, naming the source, the key, the value and the rule.
 */
export function checkSettings(
  values: Record<string, unknown>,
  name: (key: string) => string,
): Settings {
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

/** `JOBQ_DATA_DIR` for `dataDir`. */
export function envName(key: string): string {
  return `JOBQ_${kebab(key).replaceAll('-', '_').toUpperCase()}`;
}

/** `--data-dir` for `dataDir`. */
export function flagName(key: string): string {
  return `--${kebab(key)}`;
}

function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
