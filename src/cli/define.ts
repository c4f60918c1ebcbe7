/** How a command is defined. Its code is loaded when it runs: `--help` does not pay for it. */
import type { Command } from 'commander';
import { JobqError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import { type OptionGroup, withOptions } from './options.js';

/** Runs a command and answers with its exit status. */
type Run = (command: Command) => Promise<number>;

export interface Definer {
  /** A command with the options of these groups, and no more arguments than its usage names. */
  add(parent: Command, usage: string, description: string, groups: readonly OptionGroup[]): Command;
  /** A command that only holds others. */
  addParent(parent: Command, name: string, description: string): Command;
  /** What commander is to call. */
  running(run: Run): (...given: unknown[]) => Promise<void>;
}

/** @param finish is given the exit status. */
export function createDefiner(finish: (status: number) => void): Definer {
  return {
    add: (parent, usage, description, groups) =>
      withOptions(parent.command(usage).description(description), ...groups).allowExcessArguments(
        false,
      ),
    addParent: (parent, name, description) =>
      parent
        .command(name)
        .description(description)
        .action((_options, command: Command) => {
          refuseUnknown(command);
          command.help({ error: true });
        })
        .allowExcessArguments(true),
    running:
      (run) =>
      async (...given) =>
        finish(await run(given.at(-1) as Command)),
  };
}

/** A word that names no command lands in its parent as an argument. */
export function refuseUnknown(command: Command): void {
  const [word] = command.args;
  if (word === undefined) return;
  const known = command.commands.map((sub) => sub.name());
  const path = command.parent === null ? 'jobq-dev' : `jobq-dev ${command.name()}`;
  throw new JobqError(
    'usage',
    `unknown command ${JSON.stringify(word)}${didYouMean(word, known)}`,
    `${path} --help lists the commands.`,
  );
}
