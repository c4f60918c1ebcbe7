/** The process provider: every attempt a child process on this machine. */
import { randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { JobqError } from '../../errors.js';
import { JournalEntry } from '../leftovers/journal.js';
import { removeTree } from '../leftovers/remove-tree.js';
import type { Enforcement, Sandbox, SandboxProvider, SandboxSpec } from '../port.js';
import { bubblewrapped, probeBubblewrap } from './bubblewrap.js';
import type { Launch } from './launch.js';
import { ProcessSandbox, type SandboxHost } from './sandbox.js';
import { directStarter, type Slot, type Starter, WardenStarter } from './starter.js';
import { Warden } from './warden.js';

export interface ProcessProviderOptions {
  /** Absolute; private directories are made below it, e.g. `.jobq/work`. */
  workDir: string;
  /** Absolute; see `cleanLeftovers`. */
  journalDir: string;
  /** The perl to run the warden with; default: the first on PATH. `false`: do without. */
  perl?: string | false;
  /**
   * Isolation by bubblewrap: `auto` uses it where a probe ran a command under it, `require` fails
   * where none did, `off` (the default) does not try.
   */
  namespaces?: 'auto' | 'off' | 'require';
  /** The handlers' network; `none` needs namespaces. Default `host`. */
  network?: 'host' | 'none';
  /**
   * How the memory limit is kept: `auto` (the default) by cgroups where a try made one, else by
   * watching; `watch` does not try.
   */
  memory?: 'auto' | 'watch';
  /** Told about what went wrong without failing an attempt, e.g. a directory that stays behind. */
  onWarning?: (message: string) => void;
}

/** What `doctor` shows. */
export interface ProcessProviderInfo {
  /** Path of perl, or undefined where there is none. */
  perl: string | undefined;
  mode: 'warden' | 'direct';
  /** Why the mode is `direct`. */
  reason?: string;
  /** Whether orphans are handed to the warden (Linux). */
  subreaper: boolean;
  /** `working`, or why bubblewrap is not used. */
  bubblewrap: string;
}

export interface ProcessProvider extends SandboxProvider {
  readonly info: ProcessProviderInfo;
}

/** The socket's path must stay below sun_path's 104 bytes (macOS; Linux 108). */
const LONGEST_SOCKET_DIR = 100;

/**
 * Starts the warden, so that what `enforces` says was tried and not guessed.
 * @throws JobqError `directory-unusable` when `workDir` or `journalDir` cannot be written,
 *   `sandbox-unavailable` when namespaces or no network are required and cannot be had.
 */
export async function createProcessProvider(
  options: ProcessProviderOptions,
): Promise<ProcessProvider> {
  const bubblewrap = await tryBubblewrap(options);
  const id = `${process.pid}-${randomBytes(6).toString('hex')}`;
  const workDir = join(options.workDir, id);
  let journal: JournalEntry;
  try {
    journal = await JournalEntry.open(options.journalDir, id, workDir);
    await mkdir(workDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new JobqError(
      'directory-unusable',
      `cannot make directories for handlers in ${options.workDir}: ${(error as Error).message}`,
      'Give another place with --data-dir, or make this one writable.',
      { cause: error },
    );
  }
  const perl = options.perl === false ? undefined : (options.perl ?? findPerl());
  const cgroupName = options.memory === 'watch' ? undefined : `jobq-${id}`;
  const { starter, info, memory } = await chooseStarter(perl, workDir, journal, cgroupName);
  return new Provider(options, workDir, journal, starter, { ...info, bubblewrap }, memory);
}

async function tryBubblewrap(options: ProcessProviderOptions): Promise<string> {
  const { namespaces = 'off', network = 'host' } = options;
  const reason = namespaces === 'off' ? 'not asked for' : await probeBubblewrap({ network });
  if (reason === undefined) return WORKING;
  if (namespaces !== 'require' && network === 'host') return reason;
  throw new JobqError(
    'sandbox-unavailable',
    `handlers cannot be isolated by namespaces here: ${reason}`,
    'Install bubblewrap and allow user namespaces, or do not ask for isolation.',
  );
}

const WORKING = 'working';

interface ChosenStarter {
  starter: Starter;
  info: Omit<ProcessProviderInfo, 'bubblewrap'>;
  memory: Enforcement['memory'];
}

async function chooseStarter(
  perl: string | undefined,
  workDir: string,
  journal: JournalEntry,
  cgroupName: string | undefined,
): Promise<ChosenStarter> {
  const direct = (reason: string): ChosenStarter => ({
    starter: directStarter,
    info: { perl, mode: 'direct', reason, subreaper: false },
    memory: 'none',
  });
  if (perl === undefined) return direct('perl is not installed');
  const starter = new WardenStarter(async () => {
    const socketDir = newSocketDir();
    await journal.addDirectory(socketDir);
    const warden = await Warden.start({ perl, socketDir, home: workDir, cgroupName });
    await journal.addWarden(warden.pid);
    if (warden.cgroups !== undefined) await journal.addCgroups(warden.cgroups);
    return warden;
  });
  try {
    const { subreaper, cgroups } = await starter.warden();
    const watched = process.platform === 'linux' ? 'watched' : 'none';
    const memory = cgroups === undefined ? watched : 'cgroup';
    return { starter, info: { perl, mode: 'warden', subreaper }, memory };
  } catch (error) {
    return direct(`the warden did not start: ${(error as Error).message}`);
  }
}

class Provider implements ProcessProvider, SandboxHost {
  readonly name = 'process';
  readonly description: string;
  readonly enforces: Enforcement;
  readonly #sandboxes = new Set<ProcessSandbox>();
  #count = 0;
  #closing: Promise<void> | undefined;

  constructor(
    readonly options: ProcessProviderOptions,
    readonly workDir: string,
    readonly journal: JournalEntry,
    readonly starter: Starter,
    readonly info: ProcessProviderInfo,
    memory: Enforcement['memory'],
  ) {
    const isolated = info.bubblewrap === WORKING;
    this.enforces = {
      isolation: isolated ? 'namespaces' : 'none',
      memory,
      network: options.network ?? 'host',
      containment: containment(info),
      separateStderr: true,
    };
    this.description = isolated
      ? 'process (namespaces, no hardware boundary)'
      : 'process (no isolation)';
  }

  async create(spec: SandboxSpec): Promise<Sandbox> {
    if (this.#closing) throw new JobqError('sandbox-unavailable', 'jobq-dev is shutting down');
    this.#count += 1;
    const workspace = join(this.workDir, String(this.#count));
    try {
      mkdirSync(workspace, { mode: 0o700 });
      const slot = await this.starter.open();
      const sandbox = new ProcessSandbox(workspace, spec, this, slot);
      this.#sandboxes.add(sandbox);
      return sandbox;
    } catch (error) {
      throw new JobqError(
        'sandbox-unavailable',
        `cannot start a process for ${spec.label}: ${(error as Error).message}`,
        'Run "jobq-dev doctor" to see what is missing.',
        { cause: error },
      );
    }
  }

  openSlot(): Promise<Slot> {
    return this.starter.open();
  }

  wrap(
    argv: readonly string[],
    workspace: string,
    spec: SandboxSpec,
  ): Pick<Launch, 'argv' | 'signalsAsCodes'> {
    if (this.enforces.isolation === 'none') return { argv, signalsAsCodes: false };
    const { network } = this.enforces;
    return { argv: bubblewrapped(argv, workspace, spec, { network }), signalsAsCodes: true };
  }

  async release(sandbox: ProcessSandbox): Promise<void> {
    this.#sandboxes.delete(sandbox);
    await this.#remove(sandbox.workspace);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#sandboxes].map((sandbox) => sandbox.kill()));
    await this.starter.stop();
    const removed = await this.#attempt('cgroups', () => this.journal.removeCgroups());
    if ((await this.#remove(this.workDir)) && removed) await this.journal.close();
  }

  #remove(directory: string): Promise<boolean> {
    return this.#attempt(directory, () => removeTree(directory));
  }

  /** False, with a warning, when something stays: the next start's `cleanLeftovers` tries again. */
  async #attempt(what: string, remove: () => Promise<void>): Promise<boolean> {
    try {
      await remove();
      return true;
    } catch (error) {
      this.options.onWarning?.(`cannot remove ${what}: ${(error as Error).message}`);
      return false;
    }
  }
}

function containment(info: ProcessProviderInfo): string {
  if (info.mode === 'direct') return 'process group';
  return info.subreaper ? 'subreaper' : 'process tree';
}

function newSocketDir(): string {
  const name = `jobq-${randomBytes(6).toString('hex')}`;
  const directory = join(tmpdir(), name);
  return Buffer.byteLength(directory) <= LONGEST_SOCKET_DIR ? directory : join('/tmp', name);
}

function findPerl(): string | undefined {
  for (const directory of ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)]) {
    if (!directory.startsWith('/')) continue;
    try {
      accessSync(join(directory, 'perl'), constants.X_OK);
      return join(directory, 'perl');
    } catch {
      // not here
    }
  }
  return undefined;
}
