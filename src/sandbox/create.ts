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
}

/**
 * Makes the provider that was asked for. `auto` is the child process, until a local microVM with
 * hardware virtualization has booted here.
 * @throws JobqError `sandbox-unavailable`
 */
export async function createProvider(options: ProviderOptions): Promise<SandboxProvider> {
  const { name, workDir, journalDir, namespaces } = options;
  if (name === 'auto' || name === 'process') {
    return createProcessProvider({ workDir, journalDir, namespaces });
  }
  throw new JobqError(
    'sandbox-unavailable',
    `the sandbox provider "${name}" is not part of this version`,
    'Use --sandbox process: a child process, without the isolation of a microVM.',
  );
}
