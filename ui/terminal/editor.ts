import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { JobqError } from '../../src/errors.js';

/**
 * Opens $VISUAL, $EDITOR or vi on a text, in this terminal.
 * @returns the text as it was left.
 * @throws JobqError when the editor cannot be started or ends badly.
 */
export async function editText(text: string): Promise<string> {
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
  const dir = await mkdtemp(path.join(tmpdir(), 'jobq-edit-'));
  const file = path.join(dir, 'payload.json');
  try {
    await writeFile(file, text, { mode: 0o600 });
    // Through a shell, as git does: the setting may hold arguments ("code --wait").
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    const [status] = (await once(child, 'close')) as [number | null];
    if (status !== 0) {
      throw new JobqError(
        'usage',
        `the editor ${JSON.stringify(editor)} ended with status ${status ?? 'none'}; nothing was changed`,
        'Set $EDITOR to one that is installed here.',
      );
    }
    return await readFile(file, 'utf8');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
