/** Hosted sandboxes that a jobq-dev may leave: written down before each is made. */
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { mayRun, type ProcessIdentity } from '../../process-identity.js';
import { EntryFile } from '../leftovers/entry-file.js';

interface Entry {
  owner: ProcessIdentity;
  url: string;
  /** Those whose ids are known. One that is being made ends by itself when it is idle. */
  sandboxes: string[];
}

const NAME = /^pandastack-.*\.json$/;

export class RemoteJournal {
  readonly #file: EntryFile<Omit<Entry, 'owner'>>;

  private constructor(file: EntryFile<Omit<Entry, 'owner'>>) {
    this.#file = file;
  }

  static async open(journalDir: string, id: string, url: string): Promise<RemoteJournal> {
    const entry = { url, sandboxes: [] };
    return new RemoteJournal(await EntryFile.open(journalDir, `pandastack-${id}.json`, entry));
  }

  add(sandbox: string): Promise<void> {
    this.#file.entry.sandboxes.push(sandbox);
    return this.#file.save();
  }

  remove(sandbox: string): Promise<void> {
    const { entry } = this.#file;
    entry.sandboxes = entry.sandboxes.filter((each) => each !== sandbox);
    return this.#file.save();
  }

  /** Nothing is left: the entry goes. One that names a sandbox stays for the next start. */
  async close(): Promise<void> {
    await this.#file.saved();
    if (this.#file.entry.sandboxes.length === 0) await this.#file.remove();
  }
}

/**
 * Ends what jobq-dev processes that no longer run have left at the service.
 * @param remove destroys one; what it throws leaves the entry for another time.
 */
export async function endRemoteLeftovers(
  journalDir: string,
  url: string,
  remove: (sandbox: string) => Promise<void>,
): Promise<string[]> {
  const ended: string[] = [];
  for (const name of (await readdir(journalDir).catch(() => [])).filter((each) =>
    NAME.test(each),
  )) {
    const file = path.join(journalDir, name);
    const entry = await readEntry(file);
    if (entry === undefined || entry.url !== url || mayRun(entry.owner)) continue;
    for (const sandbox of entry.sandboxes) {
      await remove(sandbox);
      ended.push(sandbox);
    }
    await rm(file, { force: true });
  }
  return ended;
}

async function readEntry(file: string): Promise<Entry | undefined> {
  try {
    const entry = JSON.parse(await readFile(file, 'utf8')) as Partial<Entry>;
    return entry.owner && entry.url && Array.isArray(entry.sandboxes)
      ? (entry as Entry)
      : undefined;
  } catch {
    return undefined; // not one of ours, or cleaned by another jobq-dev at the same moment
  }
}
