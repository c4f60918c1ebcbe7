/** The programs that machines are made with, and the Debian packages that bring them. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { JobqError } from '../../errors.js';
import { machineHere } from './machine.js';

export interface Tools {
  qemu: string;
  /** First line of what QEMU says of itself. */
  qemuVersion: string;
  busybox: string;
  mksquashfs: string;
  mke2fs: string;
  perl: string;
}

/** Debian's packages for each. */
function wanted(): Record<keyof Omit<Tools, 'qemuVersion'>, { program: string; from: string }> {
  const { qemu, qemuPackage } = machineHere();
  return {
    qemu: { program: qemu, from: qemuPackage },
    busybox: { program: 'busybox', from: 'busybox-static' },
    mksquashfs: { program: 'mksquashfs', from: 'squashfs-tools' },
    mke2fs: { program: 'mke2fs', from: 'e2fsprogs' },
    perl: { program: 'perl', from: 'perl' },
  };
}

/** Where this machine's package manager puts them, and root's among them. */
const FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin'];

/** Debian's packages that are missing here. */
export function missingPackages(): string[] {
  return Object.values(wanted()).flatMap(({ program, from }) =>
    find(program) === undefined ? [from] : [],
  );
}

/** The command that installs them. */
export function installCommand(packages: readonly string[]): string {
  return `apt-get install --no-install-recommends ${packages.join(' ')}`;
}

/** @throws JobqError `sandbox-unavailable`, with the command that installs what is missing. */
export async function findTools(): Promise<Tools> {
  const missing = missingPackages();
  if (missing.length > 0) {
    throw new JobqError(
      'sandbox-unavailable',
      `the sandbox provider "qemu" lacks ${missing.join(', ')} on this machine`,
      `Install with: ${installCommand(missing)}`,
    );
  }
  const found = Object.entries(wanted()).map(([key, { program }]) => [key, find(program)!]);
  const tools = Object.fromEntries(found) as Omit<Tools, 'qemuVersion'>;
  const { stdout } = await promisify(execFile)(tools.qemu, ['--version']);
  return { ...tools, qemuVersion: stdout.split('\n')[0]! };
}

function find(program: string): string | undefined {
  return FOLDERS.map((folder) => path.join(folder, program)).find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
