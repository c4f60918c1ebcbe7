/** `jobq-dev sandbox build`: everything that a microVM needs, made and tried once. */
import { imageBytes } from './image.js';
import { fetchKernel, kernelsHere } from './kernel.js';
import { probeHardware } from './probe.js';
import { createQemuProvider, type QemuProviderOptions } from './provider.js';
import { findTools } from './tools.js';

export interface Built {
  kernel: string;
  accelerator: 'kvm' | 'tcg';
  /** Why it is software emulation. */
  emulated_because?: string;
  image_bytes: number;
  snapshot_bytes: number;
  /** From start to ready, of the machine that was saved. */
  boot_ms: number;
  /** From start to ready, of one that was restored. */
  restore_ms: number;
  /** Programs that handlers ask for and this machine has not. */
  missing: string[];
}

/** @throws JobqError `sandbox-unavailable` */
export async function buildSandbox(
  options: Omit<QemuProviderOptions, 'accelerator'>,
  outputDir: string,
): Promise<Built> {
  const { onProgress } = options;
  const tools = await findTools();
  const [found] = await kernelsHere(options.kernel);
  if (found === undefined) onProgress?.('fetching a kernel with apt-get (nothing is installed)');
  const kernel = found ?? (await fetchKernel());
  const probe = await probeHardware(tools, kernel, true);
  const accelerator = probe.works ? 'kvm' : 'tcg';
  const provider = await createQemuProvider({ ...options, accelerator });
  try {
    const startedAt = performance.now();
    const sandbox = await provider.create({
      handlersDir: options.handlersDir,
      outputDir,
      memoryBytes: options.memoryBytes,
      ttlMs: 600_000,
      label: 'sandbox build',
    });
    const restoreMs = Math.round(performance.now() - startedAt);
    await sandbox.kill();
    return {
      kernel: provider.kernel.release,
      accelerator,
      ...(probe.reason !== undefined && { emulated_because: probe.reason }),
      image_bytes: await imageBytes(provider.image),
      snapshot_bytes: provider.snapshot.sizeBytes,
      boot_ms: provider.snapshot.bootMs,
      restore_ms: restoreMs,
      missing: provider.runtime.missing,
    };
  } finally {
    await provider.close();
  }
}
