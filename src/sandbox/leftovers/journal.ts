/**
 * The journal: what a jobq-dev process is about to leave on the machine, written down before it is
 * made. One small file for each provider, not for each attempt: every directory of an attempt is
 * below the entry's work directory, and every process of it has a HOME there.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  identify,
  isSame,
  mayRun,
  type ProcessIdentity,
  processStart,
} from '../../process-identity.js';
import { removeCgroups } from './cgroups.js';
import { EntryFile } from './entry-file.js';
import { endProcessesWithEnvironment, signalIfThere } from './processes.js';
import { removeTree } from './remove-tree.js';

interface Entry {
  /** The jobq-dev that made it. */
  owner: ProcessIdentity;
  /** Its wardens so far (the last may be running). */
  wardens: ProcessIdentity[];
  /** Absolute; the handlers' HOMEs are below. */
  workDir: string;
  /** Other directories to remove, absolute. */
  directories: string[];
  /** What the paths of the wardens' cgroups begin with, absolute. */
  cgroups: string[];
}

/** The entry of one provider. */
export class JournalEntry {
  readonly #file: EntryFile<Omit<Entry, 'owner'>>;

  private constructor(file: EntryFile<Omit<Entry, 'owner'>>) {
    this.#file = file;
  }

  /** Writes an entry for this process. `id` is unique among the journal's entries. */
  static async open(journalDir: string, id: string, workDir: string): Promise<JournalEntry> {
    const entry = { wardens: [], workDir, directories: [], cgroups: [] };
    return new JournalEntry(await EntryFile.open(journalDir, `process-${id}.json`, entry));
  }

  async addDirectory(path: string): Promise<void> {
    this.#file.entry.directories.push(path);
    await this.#file.save();
  }

  async addWarden(pid: number): Promise<void> {
    const warden = identify(pid);
    if (!warden) return; // ended already
    this.#file.entry.wardens.push(warden);
    await this.#file.save();
  }

  /** `base` is what the cgroups' paths begin with. */
  async addCgroups(base: string): Promise<void> {
    if (this.#file.entry.cgroups.includes(base)) return;
    this.#file.entry.cgroups.push(base);
    await this.#file.save();
  }

  /** Removes the cgroups that a warden left because it was killed. @throws Error when one stays. */
  async removeCgroups(): Promise<void> {
    for (const base of this.#file.entry.cgroups) await removeCgroups(base);
  }

  /** Nothing is left: the entry goes. */
  async close(): Promise<void> {
    await this.#file.remove();
  }
}

export interface Leftovers {
  /** Processes that were ended. */
  pids: number[];
  /** Directories that were removed. */
  directories: string[];
}

/**
 * Ends the processes and removes the directories of jobq-dev processes that no longer run. A pid
 * counts only with its start time and boot, or with a HOME that an entry names: never a process
 * that got an old pid. Entries of running owners are left alone.
 */
export async function cleanLeftovers(journalDir: string): Promise<Leftovers> {
  const found: Leftovers = { pids: [], directories: [] };
  const names = await readdir(journalDir).catch(() => []); // nothing was ever started here
  for (const name of names.filter((each) => /^process-.*\.json$/.test(each))) {
    const file = join(journalDir, name);
    const entry = await readEntry(file);
    if (entry && mayRun(entry.owner)) continue;
    if (entry) {
      found.pids.push(...(await endProcesses(entry)));
      found.directories.push(...(await removeDirectories(entry)));
    }
    await rm(file, { force: true });
  }
  await removeDrafts(journalDir, names);
  return found;
}

/** What somebody was writing when it was killed: nothing had been made yet that is not elsewhere. */
async function removeDrafts(journalDir: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const [, owner] = /^process-(\d+)-[0-9a-f]+\.json\.new$/.exec(name) ?? [];
    if (owner === undefined || processStart(Number(owner)) !== undefined) continue;
    await rm(join(journalDir, name), { force: true });
  }
}

async function endProcesses(entry: Entry): Promise<number[]> {
  const ended: number[] = [];
  for (const warden of entry.wardens) {
    if (!isSame(warden)) continue;
    signalIfThere(warden.pid, 'SIGKILL');
    ended.push(warden.pid);
  }
  ended.push(...(await endProcessesWithEnvironment(`HOME=${entry.workDir}`)));
  // Last, when nobody makes another; and they hold also what has cleared its environment.
  for (const base of (entry.cgroups ?? []).filter(isOurs)) {
    ended.push(...(await removeCgroups(base).catch(() => [])));
  }
  return [...new Set(ended)];
}

async function removeDirectories(entry: Entry): Promise<string[]> {
  const ours = [entry.workDir, ...entry.directories].filter(isOurs);
  for (const path of ours) await removeTree(path);
  return ours;
}

/** Knows the names that provider.ts gives. A journal that somebody edited must not empty a disk. */
function isOurs(path: string): boolean {
  return /^(?:\d+|jobq|jobq-\d+)-[0-9a-f]{12}$/.test(basename(path));
}

async function readEntry(file: string): Promise<Entry | undefined> {
  try {
    const entry = JSON.parse(await readFile(file, 'utf8')) as Partial<Entry>;
    const { owner, wardens, workDir, directories } = entry;
    return owner && wardens && workDir && directories ? (entry as Entry) : undefined;
  } catch {
    return undefined; // not one of ours, or cleaned by another jobq-dev at the same moment
  }
}
