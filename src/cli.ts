#!/usr/bin/env node
/** The command line: commands, flags, exit codes; the only `process.exit`. */
import { CommanderError } from 'commander';
import { Output } from './cli/output.js';
import { createProgram } from './cli/program.js';
import { JobqError } from './errors.js';

const given = process.argv.slice(2);
const output = new Output({ json: given.includes('--json'), verbose: given.includes('--verbose') });

/** Ends with `status` once what was written has left: a pipe may still hold a document. */
function exit(status: number): void {
  process.exitCode = status;
  process.stdout.write('', () => process.stderr.write('', () => process.exit(status)));
}

/** Commander has printed its own message; --help and --version are fine, the rest is usage. */
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
