/** One QEMU process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { removeTree } from '../leftovers/remove-tree.js';
import { Agent } from './agent.js';
import type { Image } from './image.js';
import { type Accelerator, machineHere } from './machine.js';
import { Qmp } from './qmp.js';
import type { Tools } from './tools.js';

export interface VmPlan {
  tools: Tools;
  image: Image;
  accelerator: Accelerator;
  /** The machine's whole memory; a restored one must have what the saved one had. */
  memoryMiB: number;
  /** File that holds the memory. */
  memoryFile: string;
  /** A private directory to make for this machine, absolute. */
  directory: string;
  /** The saved state to go on from; a machine without one boots. */
  state?: string;
}

const AGENT_FD = 3;
const QMP_FD = 4;
const STATE_FD = 5;

/**
 * Replaces itself by QEMU, after telling the kernel to kill it when jobq-dev dies: a QEMU whose
 * parent was killed would run on. (prctl(2), PR_SET_PDEATHSIG; it survives exec.)
 */
const GUARD = `my ($parent, @command) = @ARGV;
syscall(${process.arch === 'arm64' ? 167 : 157}, 1, 9, 0, 0, 0);
exit 1 if getppid != $parent;
exec { $command[0] } @command or die "$command[0]: $!\\n"`;

export class Vm {
  readonly agent: Agent;
  readonly directory: string;
  /** Resolves with the reason when the machine is gone, and never rejects. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #destroying: Promise<void> | undefined;
  #reason: string | undefined;
  #complaint = '';

  private constructor(child: ChildProcess, directory: string) {
    this.#child = child;
    this.directory = directory;
    this.agent = new Agent(child.stdio[AGENT_FD] as Duplex);
    // Its end is seen by 'exit'.
    for (const stream of child.stdio) stream?.on('error', () => {});
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = (this.#complaint + text).slice(-2000);
    });
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(this.#reason ?? this.#why(code, signal)));
    });
  }

  /** Starts QEMU; the guest answers later (see Agent.wake). */
  static async start(plan: VmPlan): Promise<Vm> {
    await mkdir(plan.directory, { mode: 0o700 });
    const state = plan.state === undefined ? undefined : openSync(plan.state, 'r');
    try {
      const command = [String(process.pid), plan.tools.qemu, ...qemuArguments(plan)];
      const child = spawn(plan.tools.perl, ['-e', GUARD, '--', ...command], {
        cwd: plan.directory,
        // HOME marks it as ours for the journal; TMPDIR holds what the guest writes to its disk.
        env: { PATH: '/usr/bin:/bin', HOME: plan.directory, TMPDIR: plan.directory, LC_ALL: 'C' },
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', state ?? 'ignore'],
        detached: true,
      });
      return new Vm(child, plan.directory);
    } finally {
      if (state !== undefined) closeSync(state);
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  control(): Promise<Qmp> {
    return Qmp.open(this.#child.stdio[QMP_FD] as Duplex);
  }

  /** Lets the restored machine go on. @throws Error with what QEMU said. */
  async resume(): Promise<void> {
    const qmp = await this.control();
    await qmp.execute('migrate-set-capabilities', SHARED_MEMORY);
    await qmp.execute('migrate-incoming', { uri: `fd:${STATE_FD}` });
  }

  /** Ends it and removes its directory. Idempotent; `reason` is what `ended` gives. */
  destroy(reason: string): Promise<void> {
    this.#destroying ??= this.#destroy(reason);
    return this.#destroying;
  }

  async #destroy(reason: string): Promise<void> {
    this.#reason ??= reason;
    this.#child.kill('SIGKILL');
    await this.ended;
    for (const stream of this.#child.stdio) stream?.destroy();
    await removeTree(this.directory);
  }

  /** What is known when a machine ends by itself: QEMU's complaint, or the kernel's last lines. */
  #why(code: number | null, signal: string | null): string {
    const said = this.#complaint.trim() || lastLines(path.join(this.directory, 'console'));
    return `the microVM ended (${signal ?? `exit status ${code}`})${said === '' ? '' : `: ${said}`}`;
  }
}

/** The memory stays in its file, of which a restored machine writes to a private copy. */
export const SHARED_MEMORY = { capabilities: [{ capability: 'x-ignore-shared', state: true }] };

function qemuArguments(plan: VmPlan): string[] {
  const { image, accelerator, memoryMiB, memoryFile, state } = plan;
  const machine = machineHere();
  const share = state === undefined ? 'on' : 'off';
  const kernelWords = [
    `console=${machine.console} quiet panic=-1 random.trust_cpu=on`,
    // Nothing is behind these walls but the emulator itself, and they cost emulated time.
    ...(accelerator === 'tcg' ? ['mitigations=off', 'tsc=reliable', 'no_timer_check'] : []),
  ];
  const disk = (id: string, options: string) => [
    ...['-drive', `if=none,id=${id},format=raw,${options}`],
    ...['-device', `virtio-blk-pci,drive=${id}`],
  ];
  return [
    ...['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none'],
    ...machine.hardware(accelerator),
    ...['-m', `${memoryMiB}`, '-smp', '1', '-machine', 'memory-backend=ram'],
    ...[
      '-object',
      `memory-backend-file,id=ram,size=${memoryMiB}M,mem-path=${escaped(memoryFile)},share=${share}`,
    ],
    ...['-kernel', image.kernel, '-initrd', image.initramfs, '-append', kernelWords.join(' ')],
    ...disk('runtime', `file=${escaped(image.runtime)},readonly=on,file.locking=off`),
    ...disk('scratch', `file=${escaped(image.scratch)},snapshot=on,file.locking=off`),
    ...['-chardev', 'file,id=console,path=console', '-serial', 'chardev:console'],
    ...['-device', 'virtio-serial-pci', '-chardev', `socket,id=agent,fd=${AGENT_FD}`],
    ...['-device', 'virtserialport,chardev=agent,nr=1'],
    ...['-chardev', `socket,id=control,fd=${QMP_FD}`, '-mon', 'chardev=control,mode=control'],
    ...(state === undefined
      ? []
      : [
          ...['-incoming', 'defer'],
          // The guest is not to be trusted: QEMU gives up what it does not need from here on.
          ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny'],
        ]),
  ];
}

/** In QEMU's options a comma is doubled. */
function escaped(file: string): string {
  return file.replaceAll(',', ',,');
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').slice(-3).join(' | ').slice(-500);
  } catch {
    return '';
  }
}
