/**
 * Whether this machine runs guests in hardware. That /dev/kvm is there and opens proves nothing:
 * there are machines where no guest ever runs. Only a boot does.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, release, tmpdir } from 'node:os';
import path from 'node:path';
import { after } from '../deadline.js';
import { cacheDir } from './cache.js';
import { makeInitramfs } from './initramfs.js';
import type { Kernel } from './kernel.js';
import { type Accelerator, machineHere } from './machine.js';
import type { Tools } from './tools.js';

/** Where it works a boot takes a second; where it does not, QEMU aborts, or hangs. */
const BOOT_MS = 20_000;
/** What init.sh says. */
const BOOTED = 'JOBQ-BOOTED';

export interface Probe {
  works: boolean;
  /** Why not. */
  reason?: string;
  /** How long the boot took. */
  bootMs?: number;
}

/** Looks once for each machine, QEMU and kernel; `again` looks whatever was found before. */
export async function probeHardware(tools: Tools, kernel: Kernel, again = false): Promise<Probe> {
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code !== 'ENOENT';
    const reason = isThere
      ? '/dev/kvm is there, but not yours to use (your user must be in the group kvm)'
      : 'there is no /dev/kvm';
    return { works: false, reason };
  }
  const file = path.join(cacheDir(), `probe-${machineKey(tools, kernel)}.json`);
  const known = again ? undefined : readProbe(file);
  if (known !== undefined) return known;
  const found = await probeBoot(tools, kernel, 'kvm');
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.${process.pid}`, JSON.stringify(found));
  await rename(`${file}.${process.pid}`, file);
  return found;
}

/** Boots a guest that only says that it has come up. */
export async function probeBoot(
  tools: Tools,
  kernel: Pick<Kernel, 'file'>,
  accelerator: Accelerator,
  patienceMs = BOOT_MS,
): Promise<Probe> {
  const directory = await mkdtemp(path.join(tmpdir(), 'jobq-probe-'));
  try {
    const initramfs = path.join(directory, 'initramfs');
    await writeFile(initramfs, await makeInitramfs(tools.busybox, []));
    return await boot(tools, kernel.file, initramfs, accelerator, patienceMs);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function boot(
  tools: Tools,
  kernel: string,
  initramfs: string,
  accelerator: Accelerator,
  patienceMs: number,
): Promise<Probe> {
  const machine = machineHere();
  const startedAt = performance.now();
  const child = spawn(
    tools.qemu,
    [
      ...['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none', '-serial', 'stdio'],
      ...machine.hardware(accelerator),
      ...['-m', '256', '-smp', '1', '-kernel', kernel, '-initrd', initramfs],
      ...['-append', `console=${machine.console} quiet panic=-1 jobq.probe`],
    ],
    { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } },
  );
  let said = '';
  let complaint = '';
  return new Promise((resolve) => {
    const end = (probe: Probe): void => {
      cancel();
      child.kill('SIGKILL');
      resolve(probe);
    };
    const cancel = after(patienceMs, () =>
      end({ works: false, reason: `no guest came up within ${patienceMs / 1000} s` }),
    );
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes(BOOTED)) {
        end({ works: true, bootMs: Math.round(performance.now() - startedAt) });
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    child.once('error', (error) => end({ works: false, reason: error.message }));
    child.once('close', () =>
      end({ works: false, reason: complaint.trim().split('\n').at(-1) || 'QEMU ended at once' }),
    );
  });
}

/** This machine, its kernel, its QEMU and the guest's kernel. */
function machineKey(tools: Tools, kernel: Kernel): string {
  let machine = hostname();
  try {
    machine = readFileSync('/etc/machine-id', 'utf8');
  } catch {
    // not every machine has one
  }
  const parts = [machine, release(), tools.qemuVersion, kernel.release];
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16);
}

function readProbe(file: string): Probe | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Probe;
  } catch {
    return undefined; // none yet
  }
}
