/** Files of this machine that go into a guest under the same paths, with the links that lead there. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import path from 'node:path';

interface Listed {
  stats: Stats;
  /** Where a link leads, as it is written. */
  target?: string;
}

export class FileList {
  readonly #files = new Map<string, Listed>();

  /** Every path, folders before what is in them. */
  get paths(): string[] {
    return [...this.#files.keys()].sort();
  }

  get(file: string): Listed {
    return this.#files.get(file)!;
  }

  /** Regular files that begin as programs and shared objects do, by their mode or name. */
  get maybeObjects(): string[] {
    return [...this.#files].flatMap(([file, { stats }]) =>
      stats.isFile() && ((stats.mode & 0o111) !== 0 || /\.(so|node)(\.|$)/.test(file))
        ? [file]
        : [],
    );
  }

  /**
   * Adds a file, a link with what it leads to, or a folder with everything in it; nothing where
   * there is none. Looks are synchronous: of ten thousand files each round through the thread pool
   * would be felt.
   * @param leaveOut is asked for the path of everything inside a folder.
   */
  add(given: string, leaveOut: (file: string) => boolean = () => false): void {
    let folder: string;
    try {
      folder = realpathSync(path.dirname(given));
    } catch {
      return; // there is none
    }
    this.#addAt(path.join(folder, path.basename(given)), leaveOut);
  }

  /** @param file whose folder is known to be no link. */
  #addAt(file: string, leaveOut: (file: string) => boolean): void {
    if (this.#files.has(file)) return;
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (stats.isSymbolicLink()) {
      const target = readlinkSync(file);
      this.#files.set(file, { stats, target });
      this.add(path.resolve(path.dirname(file), target), leaveOut);
    } else if (stats.isDirectory()) {
      this.#files.set(file, { stats });
      for (const name of readdirSync(file)) {
        const inner = path.join(file, name);
        if (!leaveOut(inner)) this.#addAt(inner, leaveOut);
      }
    } else if (stats.isFile()) {
      this.#files.set(file, { stats });
    }
  }

  /** Adds a link alone; nothing where there is none. */
  addLink(file: string): void {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) this.#files.set(file, { stats, target: readlinkSync(file) });
  }

  /** Changes when a name, a size, a mode, a link or the time of a change does. */
  fingerprint(): string {
    const hash = createHash('sha256');
    for (const file of this.paths) {
      const { stats, target } = this.get(file);
      const own = stats.isFile() ? [stats.size, stats.mtimeMs] : [target ?? ''];
      hash.update(`${[file, stats.mode, ...own].join('\0')}\n`);
    }
    return hash.digest('hex');
  }
}
