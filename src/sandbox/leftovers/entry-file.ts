import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify, type ProcessIdentity } from '../../process-identity.js';

/** A file of the journal: what this process is about to leave, written down before it is made. */
export class EntryFile<E extends object> {
  readonly entry: E & { owner: ProcessIdentity };
  readonly #file: string;
  #saving: Promise<void> = Promise.resolve();

  private constructor(file: string, entry: E & { owner: ProcessIdentity }) {
    this.#file = file;
    this.entry = entry;
  }

  /** `name` is unique among the journal's files. */
  static async open<E extends object>(
    journalDir: string,
    name: string,
    entry: E,
  ): Promise<EntryFile<E>> {
    await mkdir(journalDir, { recursive: true });
    const owner = identify(process.pid);
    if (!owner) throw new Error('cannot read the start time of this process');
    const file = new EntryFile(join(journalDir, name), { owner, ...entry });
    await file.save();
    return file;
  }

  /** As the entry is now. */
  save(): Promise<void> {
    const text = JSON.stringify(this.entry);
    this.#saving = this.#saving.then(async () => {
      // Renamed into place: a crash leaves the old entry or the new one, never half of it.
      await writeFile(`${this.#file}.new`, text, { mode: 0o600 });
      await rename(`${this.#file}.new`, this.#file);
    });
    return this.#saving;
  }

  /** Resolves when everything is written. */
  saved(): Promise<void> {
    return this.#saving;
  }

  async remove(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}
