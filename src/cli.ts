#!/usr/bin/env node
/** The command line: commands, flags, exit codes; the only `process.exit`. */
import { warmUp } from './db/pglite-warm.js';

/** Commands that open a database of their own for certain; none at all is the emulator. */
const OPENING = ['replay', 'demo', 'test'];

const given = process.argv.slice(2);
const [word = '-'] = given;
const elsewhere = given.some((flag) => /^(-h|-V|--help|--version|--database-url)\b/.test(flag));
if (
  (word.startsWith('-') || OPENING.includes(word)) &&
  !elsewhere &&
  !process.env.JOBQ_DATABASE_URL
) {
  warmUp();
}
// Loaded while the engine compiles.
const [{ CommanderError }, { Output }, { createProgram }, { JobqError }] = await Promise.all([
  import('commander'),
  import('./cli/output.js'),
  import('./cli/program.js'),
  import('./errors.js'),
]);
const output = new Output({ json: given.includes('--json'), verbose: given.includes('--verbose') });

/** Ends with `status` once what was written has left: a pipe may still hold a document. */
function exit(status: number): void {
  process.exitCode = status;
  process.stdout.write('', () => process.stderr.write('', () => process.exit(status)));
}

/** Commander has shown --help and --version by itself. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  output.error(error);
  return error instanceof JobqError ? error.exitStatus : 70;
}

try {
  await createProgram(exit).parseAsync(process.argv);
} catch (error) {
  exit(statusOf(error));
}
