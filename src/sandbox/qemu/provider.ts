/** The qemu provider: every attempt in a microVM of its own, restored from a snapshot. */
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { JobqError } from '../../errors.js';
import { JournalEntry } from '../leftovers/journal.js';
import { removeTree } from '../leftovers/remove-tree.js';
import type { Enforcement, Sandbox, SandboxProvider, SandboxSpec } from '../port.js';
import { inUse } from './cache.js';
import { buildImage, type Image } from './image.js';
import { type Kernel, kernelsHere } from './kernel.js';
import type { Accelerator } from './machine.js';
import { collectRuntime, type Runtime } from './runtime.js';
import { type MachineHost, QemuSandbox } from './sandbox.js';
import { type Snapshot, takeSnapshot } from './snapshot.js';
import { findTools } from './tools.js';
import { Vm } from './vm.js';
import { WarmPool } from './warm-pool.js';

export interface QemuProviderOptions {
  /** Absolute; private directories are made below it, e.g. `.jobq/work`. */
  workDir: string;
  /** Absolute; see `cleanLeftovers`. */
  journalDir: string;
  /** Absolute; its packages go into the image. It need not exist yet. */
  handlersDir: string;
  /** Programs that handlers are run with: bare names, or absolute paths. */
  interpreters: readonly string[];
  /** What a handler may take, at most; the guest gets some more for itself. */
  memoryBytes: number;
  accelerator: Accelerator;
  /** Machines to keep restored ahead of need. Default 0. */
  warm?: number;
  /** A kernel to use, absolute; default: one that was fetched, or the machine's own. */
  kernel?: string | undefined;
  /** Told what takes long. */
  onProgress?: (message: string) => void;
}

/** For the guest's kernel, its agent and what lies on its file systems in memory. */
const GUEST_OWN_MIB = 128;
/** A restored machine answers within half a second; on a busy one it can take long. */
const ANSWER_MS = 60_000;

/** What `sandbox build` and `doctor` show. */
export interface QemuProvider extends SandboxProvider {
  readonly image: Image;
  readonly snapshot: Snapshot;
  readonly runtime: Runtime;
  readonly kernel: Kernel;
  /** Machines that are ready ahead of need. */
  readonly warm: number;
}

/** @throws JobqError `sandbox-unavailable`, `directory-unusable` */
export async function createQemuProvider(options: QemuProviderOptions): Promise<QemuProvider> {
  const tools = await findTools();
  const [kernel] = await kernelsHere(options.kernel);
  if (kernel === undefined) {
    throw new JobqError(
      'sandbox-unavailable',
      options.kernel === undefined
        ? 'there is no kernel for microVMs on this machine'
        : `${options.kernel} is not a kernel with its modules`,
      'Run "jobq-dev sandbox build", which fetches one, or set "vmKernel" to one.',
    );
  }
  const id = `${process.pid}-${randomBytes(6).toString('hex')}`;
  const workDir = path.join(options.workDir, id);
  const journal = await openJournal(options, id, workDir);
  try {
    const handlersDir = realpath(options.handlersDir);
    const runtime = await collectRuntime(handlersDir, options.interpreters);
    const tell = (message: string) => options.onProgress?.(message);
    if (runtime.missing.length > 0) {
      tell(`not on this machine, so not in the microVM: ${runtime.missing.join(', ')}`);
    }
    const image = await buildImage(tools, kernel, runtime, () =>
      tell('making an image for microVMs from the programs of this machine, once'),
    );
    const memoryMiB = Math.ceil(options.memoryBytes / 1024 ** 2) + GUEST_OWN_MIB;
    const snapshot = await takeSnapshot(
      tools,
      image,
      options.accelerator,
      memoryMiB,
      path.join(workDir, 'snapshot'),
      () => tell('booting a microVM to take a snapshot of it, once'),
    );
    return new Provider(
      { ...options, handlersDir, workDir },
      journal,
      kernel,
      runtime,
      image,
      snapshot,
    );
  } catch (error) {
    await removeTree(workDir);
    await journal.close();
    if (error instanceof JobqError) throw error;
    throw new JobqError(
      'sandbox-unavailable',
      `no microVM can be made here: ${(error as Error).message}`,
      'Run "jobq-dev doctor" to see what is missing.',
      { cause: error },
    );
  }
}

async function openJournal(
  options: QemuProviderOptions,
  id: string,
  workDir: string,
): Promise<JournalEntry> {
  try {
    const journal = await JournalEntry.open(options.journalDir, id, workDir);
    await mkdir(workDir, { recursive: true, mode: 0o700 });
    return journal;
  } catch (error) {
    throw new JobqError(
      'directory-unusable',
      `cannot make directories for microVMs in ${options.workDir}: ${(error as Error).message}`,
      'Give another place with --data-dir, or make this one writable.',
      { cause: error },
    );
  }
}

/** A handlers directory that is not there yet has no packages either. */
function realpath(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

class Provider implements QemuProvider, MachineHost {
  readonly name = 'qemu';
  readonly description: string;
  readonly enforces: Enforcement = {
    isolation: 'microvm',
    memory: 'machine',
    network: 'none',
    containment: 'machine',
    separateStderr: true,
  };
  readonly packages: readonly string[];
  readonly #vms = new Set<Vm>();
  readonly #pool: WarmPool;
  readonly #sandboxes = new Set<QemuSandbox>();
  #count = 0;
  #closing: Promise<void> | undefined;

  constructor(
    readonly options: QemuProviderOptions,
    readonly journal: JournalEntry,
    readonly kernel: Kernel,
    readonly runtime: Runtime,
    readonly image: Image,
    readonly snapshot: Snapshot,
  ) {
    this.packages = runtime.packages;
    this.#pool = new WarmPool(options.warm ?? 0, () => this.#restore(options.handlersDir));
    void this.#pool.fill();
    const { accelerator } = snapshot.plan;
    const how = accelerator === 'kvm' ? 'KVM' : 'software emulation, many times slower';
    this.description = `qemu (microVM, ${how})`;
  }

  get warm(): number {
    return this.#pool.ready;
  }

  async create(spec: SandboxSpec): Promise<Sandbox> {
    if (this.#closing) throw shuttingDown();
    let vm: Vm | undefined;
    try {
      vm = await this.#machineFor(spec.handlersDir);
      const sandbox = await QemuSandbox.prepare(vm, spec, this);
      if (this.#closing) throw shuttingDown();
      this.#sandboxes.add(sandbox);
      return sandbox;
    } catch (error) {
      await vm?.destroy('it could not be made ready');
      if (error instanceof JobqError) throw error;
      throw new JobqError(
        'sandbox-unavailable',
        `cannot start a microVM for ${spec.label}: ${(error as Error).message}`,
        'Run "jobq-dev doctor" to see what is missing.',
        { cause: error },
      );
    }
  }

  release(sandbox: QemuSandbox): void {
    this.#sandboxes.delete(sandbox);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #machineFor(handlersDir: string): Promise<Vm> {
    const warm = handlersDir === this.options.handlersDir ? this.#pool.take() : undefined;
    if (warm === undefined) return this.#restore(handlersDir);
    // It may have waited through a sleep of this machine.
    await warm.agent.wake(warm.ended, ANSWER_MS);
    return warm;
  }

  /** A machine that goes on from the snapshot, awake and no twin of another. */
  async #restore(handlersDir: string): Promise<Vm> {
    this.#count += 1;
    const directory = path.join(this.options.workDir, String(this.#count));
    await Promise.all([inUse(this.snapshot.directory), inUse(path.dirname(this.image.kernel))]);
    const vm = await Vm.start({ ...this.snapshot.plan, directory });
    this.#vms.add(vm);
    void vm.ended.then(() => this.#vms.delete(vm));
    try {
      await vm.resume();
      await vm.agent.wake(vm.ended, ANSWER_MS);
      const fault = await vm.agent.request('B', handlersDir, vm.ended, ANSWER_MS);
      if (fault !== undefined) throw new Error(`in the microVM: ${fault.text}`);
      return vm;
    } catch (error) {
      await vm.destroy('it did not come up');
      throw error;
    }
  }

  async #close(): Promise<void> {
    const filled = this.#pool.close();
    await Promise.all([...this.#sandboxes].map((sandbox) => sandbox.kill()));
    await Promise.all([...this.#vms].map((vm) => vm.destroy('jobq-dev is shutting down')));
    await filled;
    await Promise.all([...this.#vms].map((vm) => vm.destroy('jobq-dev is shutting down')));
    await removeTree(this.options.workDir);
    await this.journal.close();
  }
}

function shuttingDown(): JobqError {
  return new JobqError('sandbox-unavailable', 'jobq-dev is shutting down');
}
