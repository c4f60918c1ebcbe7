/** What machines are made with here: hardware where a boot proved it, else emulation. */
import { accessSync } from 'node:fs';
import { JobqError } from '../../errors.js';
import { kernelsHere } from './kernel.js';
import type { Accelerator } from './machine.js';
import { type Probe, probeHardware } from './probe.js';
import { findTools } from './tools.js';

/**
 * Whether hardware runs guests here, and why not. On a machine without /dev/kvm it costs next to
 * nothing; a probe boots a guest once and remembers.
 */
export async function hardwareHere(kernelFile?: string, again = false): Promise<Probe> {
  try {
    accessSync('/dev/kvm');
  } catch {
    return { works: false, reason: 'there is no /dev/kvm' };
  }
  try {
    const tools = await findTools();
    const [kernel] = await kernelsHere(kernelFile);
    if (kernel !== undefined) return await probeHardware(tools, kernel, again);
    return { works: false, reason: 'there is no kernel for microVMs yet' };
  } catch (error) {
    if (!(error instanceof JobqError)) throw error;
    return { works: false, reason: error.message };
  }
}

export async function chooseAccelerator(kernelFile?: string): Promise<Accelerator> {
  return (await hardwareHere(kernelFile)).works ? 'kvm' : 'tcg';
}
