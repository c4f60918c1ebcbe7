/** What differs between the processors that a virtual machine can be had on. */
import { JobqError } from '../../errors.js';

export type Accelerator = 'kvm' | 'tcg';

export interface Machine {
  /** Debian's package of QEMU for it. */
  qemuPackage: string;
  qemu: string;
  /** `-M` and `-cpu`. */
  hardware: (accelerator: Accelerator) => string[];
  /** The kernel's serial console, for what it says when it cannot start. */
  console: string;
  /** Debian's package that depends on its newest kernel for virtual machines. */
  kernelPackage: string;
}

const MACHINES: Partial<Record<NodeJS.Architecture, Machine>> = {
  x64: {
    qemuPackage: 'qemu-system-x86',
    qemu: 'qemu-system-x86_64',
    // q35, since `microvm` hung under emulation. Wheels and other binaries expect SSE 4.2 (x86-64-v2).
    hardware: (accelerator) => [
      ...['-M', `q35,accel=${accelerator},usb=off,vmport=off,smbus=off,sata=off`],
      ...['-cpu', accelerator === 'kvm' ? 'host' : 'qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+rdrand'],
    ],
    console: 'ttyS0',
    kernelPackage: 'linux-image-cloud-amd64',
  },
  // Written from QEMU's documentation, never run.
  arm64: {
    qemuPackage: 'qemu-system-arm',
    qemu: 'qemu-system-aarch64',
    hardware: (accelerator) => [
      ...['-M', `virt,accel=${accelerator}`],
      ...['-cpu', accelerator === 'kvm' ? 'host' : 'cortex-a72'],
    ],
    console: 'ttyAMA0',
    kernelPackage: 'linux-image-cloud-arm64',
  },
};

/** @throws JobqError `sandbox-unavailable` where no machine can be made of this one's programs. */
export function machineHere(): Machine {
  const machine = process.platform === 'linux' ? MACHINES[process.arch] : undefined;
  if (machine !== undefined) return machine;
  throw new JobqError(
    'sandbox-unavailable',
    `the sandbox provider "qemu" needs Linux on x86-64 or arm64; this is ${process.platform} on ${process.arch}`,
    'Its image is made of the programs of the machine. Use --sandbox process, or jobq-dev inside a Linux virtual machine.',
  );
}
