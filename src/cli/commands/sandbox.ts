import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { neededPrograms } from '../../drain/programs.js';
import { formatDuration } from '../../job/duration.js';
import { buildSandbox } from '../../sandbox/qemu/index.js';
import { readInvocation } from '../options.js';

/** `jobq-dev sandbox build`: makes what the provider `qemu` needs, and tries it. */
export async function buildImage(command: Command): Promise<number> {
  const { config, output } = readInvocation(command);
  const outputDir = await mkdtemp(path.join(tmpdir(), 'jobq-build-'));
  try {
    const built = await buildSandbox(
      {
        workDir: path.join(config.dataDir, 'work'),
        journalDir: path.join(config.dataDir, 'journal'),
        handlersDir: config.handlers,
        interpreters: await neededPrograms(config.handlers, config.interpreters),
        memoryBytes: config.memoryBytes,
        kernel: config.vmKernel,
        onProgress: (message) => output.note(message),
      },
      outputDir,
    );
    output.document(built);
    const how =
      built.accelerator === 'kvm'
        ? 'KVM'
        : `software emulation, many times slower (${built.emulated_because})`;
    output.line(`kernel    ${built.kernel}`);
    output.line(`runs on   ${how}`);
    output.line(`image     ${mebibytes(built.image_bytes)}`);
    output.line(`snapshot  ${mebibytes(built.snapshot_bytes)}`);
    output.line(`boot      ${formatDuration(built.boot_ms)}`);
    output.line(`restore   ${formatDuration(built.restore_ms)}`);
    for (const program of built.missing) {
      output.warn(`${program} is not on this machine, so handlers in the microVM have none`);
    }
    return 0;
  } finally {
    await rm(outputDir, { recursive: true, force: true });
  }
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
