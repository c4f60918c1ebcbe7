/** Hosted sandboxes that a jobq-dev may leave: written down before each is made. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { identify, mayRun, type ProcessIdentity } from '../../process-identity.js';

interface Entry {
  owner: ProcessIdentity;
  url: string;
  /** Those whose ids are known. One that is being made ends by itself when it is idle. */
  sandboxes: string[];
}

const NAME = /^pandastack-.*\.json$/;

export class RemoteJournal {
  readonly #file: string;
  readonly #entry: Entry;
  #saving: Promise<void> = Promise.resolve();

  private constructor(file: string, entry: Entry) {
    this.#file = file;
    this.#entry = entry;
  }

  static async open(journalDir: string, id: string, url: string): Promise<RemoteJournal> {
    await mkdir(journalDir, { recursive: true });
    const owner = identify(process.pid);
    if (!owner) throw new Error('cannot read the start time of this process');
    const entry: Entry = { owner, url, sandboxes: [] };
    const journal = new RemoteJournal(path.join(journalDir, `pandastack-${id}.json`), entry);
    await journal.#save();
    return journal;
  }

  add(sandbox: string): Promise<void> {
    this.#entry.sandboxes.push(sandbox);
    return this.#save();
  }

  remove(sandbox: string): Promise<void> {
    this.#entry.sandboxes = this.#entry.sandboxes.filter((each) => each !== sandbox);
    return this.#save();
  }

  /** Nothing is left: the entry goes. One that names a sandbox stays for the next start. */
  async close(): Promise<void> {
    await this.#saving;
    if (this.#entry.sandboxes.length === 0) await rm(this.#file, { force: true });
  }

  #save(): Promise<void> {
    const text = JSON.stringify(this.#entry);
    this.#saving = this.#saving.then(async () => {
      await writeFile(`${this.#file}.new`, text, { mode: 0o600 });
      await rename(`${this.#file}.new`, this.#file);
    });
    return this.#saving;
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
