import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONFIG_FILE, type Config, loadConfig } from '#src/config.js';
import { JobqError } from '#src/errors.js';
import { configSchema } from '#src/settings.js';
import { tempDir } from './support/temp-dir.js';

interface Sources {
  /** The configuration file: its text, or a value for it. */
  file?: unknown;
  env?: Record<string, string>;
  flags?: Record<string, unknown>;
}

function load({ file, env = {}, flags = {} }: Sources) {
  const cwd = tempDir();
  if (file !== undefined) {
    writeFileSync(
      path.join(cwd, CONFIG_FILE),
      typeof file === 'string' ? file : JSON.stringify(file),
    );
  }
  return { cwd, ...loadConfig({ cwd, env, flags }) };
}

const configOf = (sources: Sources): Config => load(sources).config;

/** The error, its message without the directory that the test happens to run in. */
function refusal(work: () => unknown): JobqError {
  try {
    work();
  } catch (error) {
    if (!(error instanceof JobqError)) throw error;
    expect(error).toMatchObject({ code: 'config', exitStatus: 2 });
    expect(error.message).not.toContain('\n');
    expect(error.hint).toMatch(/\S/);
    return error;
  }
  throw new Error('it was not refused');
}

const messageOf = (sources: Sources) =>
  refusal(() => load(sources)).message.replace(/(?<= )\S+(?=jobq\.config\.json)/, '');

describe('the defaults', () => {
  it('are those of the documentation', () => {
    const { cwd, config, warnings } = load({});
    expect(warnings).toEqual([]);
    expect(config).toEqual({
      file: undefined,
      alertAgeMs: 300_000,
      allowTimeTravel: false,
      testDatabase: undefined,
      testMask: [],
      token: undefined,
      dataDir: path.join(cwd, '.jobq'),
      memory: false,
      databaseUrl: undefined,
      handlers: path.join(cwd, 'handlers'),
      handlersGiven: false,
      sandbox: 'auto',
      namespaces: 'off',
      strict: false,
      warm: 0,
      jobsPerSandbox: 1,
      vmKernel: undefined,
      pandastack: { url: undefined, key: undefined, template: 'code-interpreter' },
      cron: '* * * * *',
      timezone: 'UTC',
      batch: 20,
      concurrency: 4,
      timeoutMs: 600_000,
      sandboxTtlMs: 900_000,
      memoryBytes: 512 * 1024 ** 2,
      outputLimitBytes: 1024 ** 2,
      leaseMs: 1_800_000,
      graceMs: 10_000,
      retry: 'minutes',
      keep: { ageMs: 604_800_000, count: 10_000 },
      seed: undefined,
      port: 5627,
      portGiven: false,
      pgPort: 5628,
      pgPortGiven: false,
      pgStatementTimeoutMs: 60_000,
      pgIdleInTransactionMs: 30_000,
      wake: false,
      env: {},
      interpreters: {},
    });
  });

  it('opens any free port for Postgres clients where HTTP takes any, and none beside a server', () => {
    expect(configOf({ flags: { port: '0' } }).pgPort).toBe(0);
    expect(configOf({ flags: { port: '0', pgPort: '6000' } }).pgPort).toBe(6000);
    expect(load({ flags: { pgPort: '0', databaseUrl: 'postgres://a@b/c' } }).warnings).toEqual([
      expect.stringContaining('pgPort is not used with a database server'),
    ]);
  });

  it('keeps all jobs of a server, unless it is told what to keep', () => {
    const keep = (more: object) =>
      configOf({ flags: { databaseUrl: 'postgres://a@b/c', ...more } }).keep;
    expect(keep({})).toEqual({ ageMs: undefined, count: undefined });
    expect(keep({ keepJobs: 0 })).toEqual({ ageMs: undefined, count: 0 });
  });
});

describe('precedence: file < environment < flags', () => {
  const file = { batch: 1, retry: 'seconds', seed: 'file' };
  const env = { JOBQ_BATCH: '2', JOBQ_SEED: 'environment' };
  const flags = { batch: '3' };
  it.each([
    ['the file over the defaults', { file }, { batch: 1, retry: 'seconds', seed: 'file' }],
    ['the environment over the file', { file, env }, { batch: 2, seed: 'environment' }],
    ['a flag over both', { file, env, flags }, { batch: 3, retry: 'seconds', seed: 'environment' }],
    ['a flag alone', { flags }, { batch: 3 }],
  ])('%s', (_what, sources, expected) => {
    expect(configOf(sources)).toMatchObject(expected);
  });

  it('passes over flags that were not given, and variables that are empty', () => {
    const sources = { file, env: { JOBQ_BATCH: '' }, flags: { batch: undefined } };
    expect(configOf(sources).batch).toBe(1);
  });

  it('never takes the app’s own DATABASE_URL', () => {
    expect(configOf({ env: { DATABASE_URL: 'postgres://x' } }).databaseUrl).toBeUndefined();
    expect(configOf({ env: { JOBQ_DATABASE_URL: 'postgres://x' } }).databaseUrl).toBe(
      'postgres://x',
    );
  });

  it('knows whether the port and the handlers were asked for, whoever asked', () => {
    for (const sources of [
      { file: { port: 5627, handlers: 'handlers' } },
      { env: { JOBQ_PORT: '5627', JOBQ_HANDLERS: 'handlers' } },
      { flags: { port: '5627', handlers: 'handlers' } },
    ]) {
      expect(configOf(sources)).toMatchObject({ portGiven: true, handlersGiven: true });
    }
  });
});

describe('values', () => {
  it.each<[Record<string, unknown>, Partial<Config>]>([
    [{ timeout: '90s' }, { timeoutMs: 90_000 }],
    [{ timeout: 90 }, { timeoutMs: 90_000 }],
    [{ lease: '1h30m' }, { leaseMs: 5_400_000 }],
    [
      { grace: '250ms', sandboxTtl: '5m' },
      { graceMs: 250, sandboxTtlMs: 300_000 },
    ],
    [{ timeout: '30d' }, { timeoutMs: 2_592_000_000 }],
    [{ memoryLimit: '1g' }, { memoryBytes: 1024 ** 3 }],
    [
      { memoryLimit: '512MiB', outputLimit: '64 kb' },
      { memoryBytes: 512 * 1024 ** 2, outputLimitBytes: 65_536 },
    ],
    [{ memoryLimit: 1_000_000 }, { memoryBytes: 1_000_000 }],
    [
      { memory: true, strict: 'false' },
      { memory: true, strict: false },
    ],
    [
      { memory: '1', strict: '0' },
      { memory: true, strict: false },
    ],
    [{ port: 0 }, { port: 0, portGiven: true }],
    [
      { port: '65535', concurrency: '8' },
      { port: 65_535, concurrency: 8 },
    ],
    [
      { cron: '@hourly', timezone: 'Europe/Berlin' },
      { cron: '@hourly', timezone: 'Europe/Berlin' },
    ],
    [{ interpreters: { '.py': 'python3.12' } }, { interpreters: { '.py': ['python3.12'] } }],
    [{ interpreters: { '.lua': ['lua', '-W'] } }, { interpreters: { '.lua': ['lua', '-W'] } }],
    [{ $schema: './schema.json', batch: 3 }, { batch: 3 }],
  ])('%j is taken', (file, expected) => {
    expect(configOf({ file })).toMatchObject(expected);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ memory: 'maybe' }, '"maybe": must be true or false'],
    [{ strict: 1 }, '1: must be true or false'],
    [{ batch: 0 }, '0: must be a whole number from 1 to 10000'],
    [{ batch: 1.5 }, '1.5: must be a whole number from 1 to 10000'],
    [{ batch: true }, 'true: must be a whole number from 1 to 10000'],
    [{ batch: null }, 'null: must be a whole number from 1 to 10000'],
    [{ concurrency: '0x4' }, '"0x4": must be a whole number from 1 to 1000'],
    [{ concurrency: 1_001 }, '1001: must be a whole number from 1 to 1000'],
    [{ port: 65_536 }, '65536: must be a port number from 0 to 65535'],
    [{ port: -1 }, '-1: must be a port number from 0 to 65535'],
    [{ port: null }, 'null: must be a port number from 0 to 65535'],
    [{ port: '' }, '"": must be a port number from 0 to 65535'],
    [{ port: [80] }, '[80]: must be a port number from 0 to 65535'],
    [
      { sandbox: 'proces' },
      '"proces": must be one of auto, process, qemu, pandastack, did you mean "process"?',
    ],
    [{ namespaces: true }, 'true: must be one of auto, off, require'],
    [{ retry: 'hours' }, '"hours": must be one of minutes, seconds'],
    [
      { timeout: '5 parsecs' },
      '"5 parsecs": must be a duration such as "500ms", "90s", "5m" or "1h30m"',
    ],
    [{ timeout: 0 }, '0: must be a duration such as "500ms", "90s", "5m" or "1h30m"'],
    [{ lease: true }, 'true: must be a duration such as "500ms", "90s", "5m" or "1h30m"'],
    [
      { grace: '99999999d' },
      '"99999999d": must be a duration such as "500ms", "90s", "5m" or "1h30m"',
    ],
    [{ memoryLimit: '0' }, '"0": must be a size such as "512MiB" or "1g"'],
    [{ memoryLimit: '1.5g' }, '"1.5g": must be a size such as "512MiB" or "1g"'],
    [
      { outputLimit: '99999999999999999999g' },
      '"99999999999999999999g": must be a size such as "512MiB" or "1g"',
    ],
    [{ handlers: '' }, '"": may not be empty'],
    [{ dataDir: 3 }, '3: must be text'],
    [{ seed: 3 }, '3: must be text'],
    [{ env: 'A' }, '"A": must be a list of names to pass on, or an object of values'],
    [{ interpreters: [] }, '[]: must be an object of programs by extension'],
  ])('%j is refused: file, key, value and rule', (file, rest) => {
    const [key] = Object.keys(file);
    expect(messageOf({ file })).toBe(`"${key}" in jobq.config.json is ${rest}`);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ env: { API: 'x', RETRIES: 3 } }, '"env" in jobq.config.json: "RETRIES" is 3: must be text'],
    [{ env: ['API', 3] }, '"env" in jobq.config.json: item 2 is 3: must be text'],
    [
      { env: ['API=x'] },
      '"env" in jobq.config.json: item 1 is "API=x": must be the name of an environment variable',
    ],
    [
      { env: { 'A=B': 'x' } },
      '"env" in jobq.config.json: "A=B" must be the name of an environment variable',
    ],
    [{ env: { A: 'x\0y' } }, '"env" in jobq.config.json: "A" is "x\\u0000y": may not hold a NUL'],
    [
      { interpreters: { py: 'python3' } },
      '"interpreters" in jobq.config.json: "py" must be an extension such as ".py"',
    ],
    [
      { interpreters: { '.py': [] } },
      '"interpreters" in jobq.config.json: ".py" is []: must be a program, or a list of a program and its arguments',
    ],
    [
      { interpreters: { '.py': '' } },
      '"interpreters" in jobq.config.json: ".py" is "": must be a program, or a list of a program and its arguments',
    ],
    [
      { cron: '61 * * * *' },
      '"cron" in jobq.config.json: the cron schedule "61 * * * *" is wrong: minute: 61 is a invalid expression for minute',
    ],
    [
      { timezone: 'Mars/Base' },
      '"timezone" in jobq.config.json: there is no time zone "Mars/Base"',
    ],
  ])('%j is refused, naming the part that is wrong and no other', (file, message) => {
    expect(messageOf({ file })).toBe(message);
  });

  it.each([
    [
      { env: { JOBQ_BATCH: 'many' } },
      'JOBQ_BATCH is "many": must be a whole number from 1 to 10000',
    ],
    [
      { env: { JOBQ_MEMORY_LIMIT: 'much' } },
      'JOBQ_MEMORY_LIMIT is "much": must be a size such as "512MiB" or "1g"',
    ],
    [{ env: { JOBQ_STRICT: 'yes' } }, 'JOBQ_STRICT is "yes": must be true or false'],
    [{ env: { JOBQ_TIMEZONE: 'X' } }, 'JOBQ_TIMEZONE: there is no time zone "X"'],
    [{ flags: { batch: 'many' } }, '--batch is "many": must be a whole number from 1 to 10000'],
    [
      { flags: { memoryLimit: 'much' } },
      '--memory-limit is "much": must be a size such as "512MiB" or "1g"',
    ],
    [
      { flags: { retry: 'minute' } },
      '--retry is "minute": must be one of minutes, seconds, did you mean "minutes"?',
    ],
    [
      { flags: { cron: '* * * *' } },
      '--cron: the cron schedule "* * * *" is wrong: expression: expected 5 or 6 fields but got 4',
    ],
  ])('%j is refused, naming the variable or flag', (sources, message) => {
    expect(messageOf(sources)).toBe(message);
  });

  it('refuses memory together with a database server', () => {
    const message = 'memory and databaseUrl exclude each other';
    const databaseUrl = 'postgres://localhost/app';
    expect(messageOf({ file: { databaseUrl, memory: true } })).toBe(message);
    expect(messageOf({ env: { JOBQ_MEMORY: '1', JOBQ_DATABASE_URL: databaseUrl } })).toBe(message);
    expect(messageOf({ flags: { memory: true, databaseUrl } })).toBe(message);
    expect(configOf({ file: { databaseUrl, memory: false } }).databaseUrl).toBe(databaseUrl);
  });
});

describe('a flag', () => {
  const databaseUrl = 'postgres://localhost/app';

  it('--memory wins over a server that the file or the environment names', () => {
    const config = configOf({ file: { databaseUrl }, flags: { memory: true } });
    expect(config).toMatchObject({ memory: true, databaseUrl: undefined });
  });

  it('--database-url wins over memory in the file or the environment', () => {
    const config = configOf({ env: { JOBQ_MEMORY: '1' }, flags: { databaseUrl } });
    expect(config).toMatchObject({ memory: false, databaseUrl });
  });
});

describe('unknown names', () => {
  it.each([
    ['concurency', ', did you mean "concurrency"?'],
    ['timeZone', ', did you mean "timezone"?'],
    ['favouriteColour', ''],
  ])('the key %j is refused, with what is near', (key, near) => {
    const error = refusal(() => load({ file: { [key]: 1 } }));
    expect(error.message).toMatch(/^unknown setting "\w+" in .*jobq\.config\.json/);
    expect(error.message.endsWith(`jobq.config.json${near}`)).toBe(true);
    expect(error.hint).toMatch(/^Known settings: dataDir, memory, /);
  });

  it('refuses __proto__ as any other unknown key, and is not changed by it', () => {
    expect(messageOf({ file: '{"__proto__":{"batch":7}}' })).toMatch(/unknown setting "__proto__"/);
    const { env, interpreters } = configOf({
      file: '{"env":{"__proto__":"x","A":"1"},"interpreters":{"__proto__":["x"]}}',
    });
    expect(env).toEqual({ A: '1' });
    expect(interpreters).toEqual({});
    expect(({} as Record<string, unknown>).batch).toBeUndefined();
  });

  it('warns of a variable that is no setting, and of none that belongs to handlers', () => {
    const env = {
      JOBQ_CONCURENCY: '3',
      JOBQ_ENV: '[]',
      JOBQ_JOB_ID: '7',
      JOBQ_KIND: 'x',
      JOBQ_ATTEMPT: '1',
      JOBQ_MAX_ATTEMPTS: '3',
      JOBQ_OUTPUT_DIR: '/x',
      OTHER: 'x',
    };
    const { warnings, config } = load({ env });
    expect(warnings).toEqual([
      'the environment variable JOBQ_CONCURENCY is no setting of jobq-dev, did you mean "JOBQ_CONCURRENCY"?',
      expect.stringMatching(/^the environment variable JOBQ_ENV is no setting of jobq-dev/),
    ]);
    expect(config.concurrency).toBe(4);
  });
});

describe('env for handlers', () => {
  const env = { API_URL: 'http://x', SECRET: 's', EMPTY: '' };

  it('is a list of names to pass on: those that are set, and no others', () => {
    const wanted = ['API_URL', 'EMPTY', 'UNSET', 'constructor', '__proto__'];
    const passed = configOf({ file: { env: wanted }, env }).env;
    expect(Object.entries(passed)).toEqual([
      ['API_URL', 'http://x'],
      ['EMPTY', ''],
    ]);
  });

  it('is an object of values, which nothing else overrides', () => {
    expect(configOf({ file: { env: { API_URL: 'http://y' } }, env }).env).toEqual({
      API_URL: 'http://y',
    });
  });
});

describe('paths', () => {
  it('in the file are relative to the file; on the command line and in the environment to where one stands', () => {
    const root = tempDir();
    const cwd = path.join(root, 'app');
    mkdirSync(cwd);
    writeFileSync(path.join(root, 'other.json'), '{"dataDir":"data","handlers":"../jobs"}');
    const read = (more: Sources) =>
      loadConfig({ cwd, env: {}, flags: {}, file: '../other.json', ...more } as never).config;
    expect(read({})).toMatchObject({
      file: path.join(root, 'other.json'),
      dataDir: path.join(root, 'data'),
      handlers: path.join(root, '../jobs'),
    });
    expect(read({ flags: { dataDir: 'here' } }).dataDir).toBe(path.join(cwd, 'here'));
    expect(read({ env: { JOBQ_DATA_DIR: 'here' } }).dataDir).toBe(path.join(cwd, 'here'));
    expect(read({ flags: { handlers: '/abs' } }).handlers).toBe('/abs');
  });

  it('that are defaults are beside the file', () => {
    const root = tempDir();
    writeFileSync(path.join(root, 'other.json'), '{}');
    const cwd = path.join(root, 'app');
    mkdirSync(cwd);
    const { config } = loadConfig({ cwd, env: {}, flags: {}, file: '../other.json' });
    expect(config.dataDir).toBe(path.join(root, '.jobq'));
  });
});

describe('the file', () => {
  it.each([
    ['', ':1:1: the JSON ends too early'],
    ['{\n  "batch": 1,\n}', ':3:1: unexpected "}"'],
    ['{\n  // no comments\n}', ':2:3: unexpected "/"'],
    ['[]', ' is not a JSON object'],
    ['null', ' is not a JSON object'],
    ['"x"', ' is not a JSON object'],
  ])('%j is refused, with the place', (file, message) => {
    const cwd = tempDir();
    const at = path.join(cwd, CONFIG_FILE);
    writeFileSync(at, file);
    expect(refusal(() => loadConfig({ cwd, env: {}, flags: {} })).message).toBe(`${at}${message}`);
  });

  it('may start with a byte order mark', () => {
    expect(configOf({ file: '\ufeff{"batch":3}' }).batch).toBe(3);
  });

  it('that --config names must be there, and be a file', () => {
    const cwd = tempDir();
    const given = (file: string) => refusal(() => loadConfig({ cwd, env: {}, flags: {}, file }));
    expect(given('nowhere.json').message).toBe(
      `there is no configuration file ${path.join(cwd, 'nowhere.json')}`,
    );
    expect(given('.').message).toMatch(
      /^cannot read the configuration .*: illegal operation on a directory \(EISDIR\)$/,
    );
  });
});

describe('the JSON schema', () => {
  const schema = configSchema() as {
    properties: Record<string, unknown>;
    additionalProperties: boolean;
  };

  it('knows every setting, $schema, and nothing else', () => {
    const known = refusal(() => load({ file: { x: 1 } })).hint!.match(/[A-Za-z]+(?=[,.])/g)!;
    expect(Object.keys(schema.properties).sort()).toEqual(['$schema', ...known].sort());
    expect(schema.additionalProperties).toBe(false);
  });

  it('is JSON, and requires nothing', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(schema).not.toHaveProperty('required');
  });
});
