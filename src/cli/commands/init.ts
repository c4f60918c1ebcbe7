import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { CONFIG_FILE } from '../../config.js';
import { copyHandlers, copyNew, FIXTURES } from '../../examples.js';
import { Output, type OutputFlags } from '../output.js';

/** What the examples' configuration starts from: the defaults, spelled out. */
const CONFIG = {
  handlers: 'handlers',
  cron: '* * * * *',
  concurrency: 4,
  timeout: '600s',
  retry: 'minutes',
};

/** `jobq-dev init [dir]`: example handlers, a burst and a config; nothing is overwritten. */
export async function init(dir: string | undefined, command: Command): Promise<number> {
  const output = new Output(command.optsWithGlobals<OutputFlags>());
  const target = path.resolve(dir ?? '.');
  const created: string[] = [];
  const kept: string[] = [];
  const note = (file: string, isNew: boolean) =>
    (isNew ? created : kept).push(path.relative(target, file));

  await copyHandlers(path.join(target, 'handlers'), note);
  await copyNew(
    path.join(FIXTURES, 'first-jobs.jsonl'),
    path.join(target, 'fixtures/first-jobs.jsonl'),
    note,
  );
  const config = path.join(target, CONFIG_FILE);
  const isNew = await writeFile(config, `${JSON.stringify(CONFIG, null, 2)}\n`, {
    flag: 'wx',
  }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
  note(config, isNew);

  output.document({ dir: target, created, kept });
  for (const file of created) output.line(`created ${file}`);
  for (const file of kept) output.line(`kept    ${file} (it was there)`);
  const inside = dir === undefined ? '' : `cd ${dir} && `;
  output.line();
  output.line('Next:');
  output.line(
    `  ${inside}npx jobq-dev replay fixtures/first-jobs.jsonl   a burst, on a virtual clock`,
  );
  output.line(
    `  ${inside}npx jobq-dev                                    the emulator, in real time`,
  );
  return 0;
}
