/** The commands and their flags (DESIGN: "The command line"). */
import { Command, type CommanderError, Option } from 'commander';
import { JobqError } from '../errors.js';
import { VERSION } from '../version.js';
import { createDefiner, refuseUnknown } from './define.js';
import { addControl } from './define-control.js';
import { addJobs } from './define-jobs.js';
import { NO_TUI, withOptions } from './options.js';

/**
 * Builds the program. Each command's code is loaded when it runs, so that `--help` and small
 * commands do not pay for the others.
 * @param finish is given the exit status.
 */
export function createProgram(finish: (status: number) => void): Command {
  const program = new Command('jobq-dev')
    .description('A local-first emulator for job queues that live in Postgres.')
    .version(VERSION, '-V, --version')
    .helpOption('-h, --help')
    .enablePositionalOptions()
    .configureOutput({ outputError: () => {} })
    .exitOverride(asUsage)
    .allowExcessArguments(true)
    .addHelpText('after', AFTER_HELP);

  const definer = createDefiner(finish);
  const { add, running } = definer;

  withOptions(program, 'database', 'drain', 'life', 'emulator').action(
    running(async (command) => {
      refuseUnknown(command);
      return (await import('./commands/dev.js')).dev(command);
    }),
  );

  add(program, 'demo', 'the example handlers and a burst of real webhooks, in a scratch folder', [
    'drain',
    'life',
    'emulator',
  ])
    .addHelpText(
      'after',
      '\nOn a terminal it ticks every five seconds and retries after seconds, unless told otherwise.',
    )
    .action(running(async (command) => (await import('./commands/demo.js')).demo(command)));

  add(
    program,
    'init [dir]',
    'example handlers, a burst and a config; nothing is overwritten',
    [],
  ).action(
    running(async (command) => (await import('./commands/init.js')).init(command.args[0], command)),
  );

  add(program, 'attach [url]', 'the screen for an emulator that runs elsewhere on this machine', [
    'database',
  ])
    .addOption(NO_TUI)
    .action(
      running(async (command) =>
        (await import('./commands/attach.js')).attach(command.args[0], command),
      ),
    );

  add(
    program,
    'enqueue <kind> [payload]',
    'insert a job; the payload is JSON (default: {}), "-" reads it from stdin',
    ['database', 'handlers'],
  )
    .option('--file <file>', 'read the payload from a file')
    .option('--run-after <when>', 'not before: "5m" from now, or an ISO 8601 time')
    .option('--max-attempts <n>', 'attempts before it is dead (default: 3)')
    .option('--count <n>', 'insert it so many times')
    .action(
      running(async (command) =>
        (await import('./commands/enqueue.js')).enqueue(command.args[0]!, command.args[1], command),
      ),
    );

  add(program, 'replay <fixture...>', 'run a burst on a fresh database and a virtual clock', [
    'database',
    'drain',
  ])
    .option('--live', 'send it to the running emulator instead, in real time')
    .option('--speed <factor>', 'with --live: how much faster than recorded (default: 1)')
    .addOption(
      new Option(
        '--timing <how>',
        'whether the time that attempts take counts (default: standing)',
      ).choices(['standing', 'measured']),
    )
    .option('--start <time>', 'when the burst starts (default: 2026-01-01T00:00:00Z)')
    .option('--output-dir <dir>', 'keep what handlers write here')
    .action(
      running(async (command) =>
        (await import('./commands/replay.js')).replay(command.args, command),
      ),
    );

  add(program, 'record <out>', 'write jobs of a database to a fixture; only reads from it', [
    'database',
  ])
    .option('--since <when>', 'inserted since then: "1h" ago, or an ISO 8601 time')
    .option('--until <when>', 'inserted before then')
    .option('--kind <kind...>', 'only these')
    .option('--sample <share>', 'keep this share of the jobs, e.g. 0.1 (default: 1)')
    .option(
      '--redact <what...>',
      'replace values: a path (user.email, items[*].token, $..password) or a /pattern/',
    )
    .option('--salt <text>', 'the same values get the same replacements again (default: random)')
    .option('--expect', 'each line expects what became of its job')
    .option('--force', 'write over a file that is there')
    .action(
      running(async (command) =>
        (await import('./commands/record.js')).record(command.args[0]!, command),
      ),
    );

  add(
    program,
    'test [what...]',
    'run handlers as production will: twice, killed, with a failing far side and bad input',
    ['place', 'attempt'],
  )
    .addHelpText('before', TEST_ARGUMENTS)
    .option('--only <checks>', 'run only these checks, e.g. runs,twice')
    .option('--skip <checks>', 'leave these checks out')
    .option('--sample <n>', 'cases of a kind that get more than "runs", or "all" (default: 3)')
    .option('--jobs <n>', 'attempts at a time (default: one for each processor)')
    .option('--patience <duration>', 'in which a handler must give up by itself (default: 10s)')
    .option('--seed <text>', 'bends payloads in the same way again')
    .option('--update', 'accept what the handlers do now: write it beside their cases')
    .option('--junit <file>', 'write the report as JUnit XML too')
    .option('--tap', 'the report as TAP instead')
    .option('--watch', 'test again what a saved file touches, until Ctrl-C')
    .option('--allow-network', 'let requests through that no answer is listed for')
    .action(
      running(async (command) => (await import('./commands/test.js')).test(command.args, command)),
    );

  add(program, 'drain', 'one tick against the database, then exit; what production’s cron runs', [
    'database',
    'drain',
    'life',
  ]).action(running(async (command) => (await import('./commands/drain.js')).drain(command)));

  addJobs(program, definer);
  addControl(program, definer);

  add(program, 'stats', 'counts, and the age of the oldest waiting job', ['database'])
    .option('--estimate', 'above 10,000 jobs of a state, an estimate instead of a count')
    .action(running(async (command) => (await import('./commands/stats.js')).stats(command)));

  add(program, 'prune', 'delete done jobs that are old or too many', ['database', 'keep'])
    .option('--dry-run', 'only say how many')
    .action(running(async (command) => (await import('./commands/prune.js')).prune(command)));

  add(program, 'migrate', 'apply the migrations to a database', ['database'])
    .option('--print', 'only show them')
    .action(running(async (command) => (await import('./commands/migrate.js')).migrate(command)));

  add(program, 'doctor', 'what works on this machine, and what to do about what does not', [
    'database',
    'drain',
  ]).action(running(async (command) => (await import('./commands/doctor.js')).doctor(command)));

  add(program, 'reset', 'empty the local database, after asking', ['database'])
    .option('--yes', 'do not ask')
    .action(running(async (command) => (await import('./commands/reset.js')).reset(command)));

  return program;
}

/** A mistake that commander found, as our own kind of error; what it shows by itself passes. */
function asUsage(error: CommanderError): never {
  if (!error.message.startsWith('error: ')) throw error;
  throw new JobqError(
    'usage',
    error.message.slice('error: '.length).replaceAll('\n', ' '),
    'The --help of the command shows its arguments and flags.',
  );
}

const TEST_ARGUMENTS = `What to test: kinds, and files of cases (burst.jsonl, or one job of it, burst.jsonl:12).
Default: every case in fixtures/ and in handlers/<kind>.cases.jsonl, one job on a line: {"payload":{…}}.
What the far side answers stands in handlers/<kind>.http.json.
`;

const AFTER_HELP = `
Without a command: the emulator, until Ctrl-C.

Every command takes --json, --quiet and --verbose, and has a --help of its own.
Exit status: 0 fine; 1 a job died, did not end as expected, failed a check, or does not exist;
2 wrong usage, configuration or input;
3 the environment (port taken, directory locked, database unreachable, sandbox missing);
70 a fault of jobq-dev itself; 130 interrupted.

First steps:
  jobq-dev init                     example handlers, a burst and a config
  jobq-dev replay fixtures/first-jobs.jsonl
  jobq-dev enqueue hello '{"name":"world"}'`;
