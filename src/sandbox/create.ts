import { JobqError } from '../errors.js';
import type { SandboxName, SandboxProvider } from './port.js';
import { createProcessProvider } from './process/index.js';

export interface ProviderOptions {
  name: SandboxName;
  /** For workspaces. Absolute. */
  workDir: string;
  /** Where what must be ended after a crash is written down. Absolute. */
  journalDir: string;
  namespaces: 'auto' | 'off' | 'require';
  /** Absolute. */
  handlersDir: string;
  /** Programs that the handlers there are run with. */
  interpreters: () => Promise<string[]>;
  memoryBytes: number;
  /** A microVM's kernel; undefined: one that is found. Absolute. */
  kernel: string | undefined;
  /** MicroVMs to keep restored ahead of need. */
  warm: number;
  /** The hosted service. */
  pandastack: { url: string | undefined; key: string | undefined; template: string };
  /** Told what takes long. */
  onProgress?: (message: string) => void;
}

/**
 * Makes the provider that was asked for. `auto` is a local microVM with hardware virtualization where
 * one booted, else the child process; never emulation, and never what costs money.
 * @throws JobqError `sandbox-unavailable`
 */
export async function createProvider(options: ProviderOptions): Promise<SandboxProvider> {
  switch (options.name) {
    case 'process':
      return createProcessProvider(options);
    case 'qemu':
      return createQemu(options);
    case 'auto':
      return createAuto(options);
    case 'pandastack': {
      const { createPandastackProvider } = await import('./pandastack/index.js');
      return createPandastackProvider({ ...options.pandastack, journalDir: options.journalDir });
    }
  }
}

async function createQemu(options: ProviderOptions): Promise<SandboxProvider> {
  // What microVMs need is loaded only where somebody wants one.
  const { chooseAccelerator, createQemuProvider } = await import('./qemu/index.js');
  const accelerator = await chooseAccelerator(options.kernel);
  const interpreters = await options.interpreters();
  return createQemuProvider({ ...options, interpreters, accelerator });
}

async function createAuto(options: ProviderOptions): Promise<SandboxProvider> {
  // Each start asks, and most find none: without what makes machines.
  const { hardwareHere } = await import('./qemu/choose.js');
  const { works } = await hardwareHere(options.kernel);
  if (!works) return createProcessProvider(options);
  try {
    return await createQemu(options);
  } catch (error) {
    if (!(error instanceof JobqError)) throw error;
    options.onProgress?.(`${error.message}; handlers run as child processes`);
    return createProcessProvider(options);
  }
}
