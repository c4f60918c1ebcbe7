import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { setAside } from '../../db/set-aside.js';
import { JobqError } from '../../errors.js';
import { readInvocation } from '../options.js';
import { whenFree } from '../when-free.js';

/** `jobq-dev reset`: empties the local database, after asking. What was there is set aside. */
export async function reset(command: Command): Promise<number> {
  const { config, output, flags } = readInvocation<{ yes?: boolean }>(command);
  if (config.databaseUrl !== undefined) {
    throw new JobqError(
      'usage',
      'reset empties the local database only, not a server given with --database-url',
      'Leave out --database-url (and JOBQ_DATABASE_URL), or empty the server’s table yourself.',
    );
  }
  if (!flags.yes && !(await agreed(config.dataDir))) {
    output.note('nothing was changed');
    return 0;
  }
  const aside = await whenFree(config, async () => setAside(config.dataDir));
  output.document({ reset: config.dataDir, aside: aside ?? null });
  output.line(
    aside === undefined
      ? `there was nothing in ${config.dataDir}`
      : `${config.dataDir} is empty; what was there is in ${aside} until the next reset`,
  );
  return 0;
}

async function agreed(dataDir: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new JobqError(
      'usage',
      `reset empties ${dataDir}, and there is no terminal to ask on`,
      'Say so: jobq-dev reset --yes.',
    );
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`Empty the database and outputs in ${dataDir}? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}
