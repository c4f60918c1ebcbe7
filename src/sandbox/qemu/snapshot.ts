/** A machine that was booted, warmed and saved: what every sandbox starts from. */
import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cached } from './cache.js';
import type { Image } from './image.js';
import type { Accelerator } from './machine.js';
import type { Tools } from './tools.js';
import { SHARED_MEMORY, Vm, type VmPlan } from './vm.js';

/** Under emulation on a busy machine a boot was seen to take 20 s. */
const BOOT_MS: Record<Accelerator, number> = { kvm: 30_000, tcg: 120_000 };
const WARM_MS = 120_000;

export interface Snapshot {
  directory: string;
  /** From start to ready for a handler, when it was made. Milliseconds. */
  bootMs: number;
  /** Bytes on disk of the memory and the machine's state. */
  sizeBytes: number;
  /** Everything for one more machine but its directory. */
  plan: Omit<VmPlan, 'directory'>;
}

/**
 * @param draftDirectory a private directory to make for the machine that is booted.
 * @param onMake called when there is none yet, before the boot.
 * @throws Error saying what QEMU or the guest said.
 */
export async function takeSnapshot(
  tools: Tools,
  image: Image,
  accelerator: Accelerator,
  memoryMiB: number,
  draftDirectory: string,
  onMake: () => void,
): Promise<Snapshot> {
  const key = [image.id, image.warm.join('\n'), tools.qemuVersion, accelerator, memoryMiB];
  const name = createHash('sha256').update(key.join('\0')).digest('hex').slice(0, 20);
  const plan = { tools, image, accelerator, memoryMiB };
  const directory = await cached('snapshots', name, async (draft) => {
    onMake();
    const memoryFile = path.join(draft, 'memory');
    await writeFile(memoryFile, '');
    const startedAt = performance.now();
    const vm = await Vm.start({ ...plan, memoryFile, directory: draftDirectory });
    try {
      await vm.agent.wake(vm.ended, BOOT_MS[accelerator]);
      await writeFile(path.join(draft, 'boot-ms'), String(performance.now() - startedAt));
      for (const line of image.warm) await vm.agent.request('W', line, vm.ended, WARM_MS);
      await save(vm, path.join(draft, 'state'));
    } finally {
      await vm.destroy('it was saved');
    }
  });
  const memoryFile = path.join(directory, 'memory');
  const state = path.join(directory, 'state');
  const sizes = await Promise.all(
    [memoryFile, state].map(async (file) => (await stat(file)).blocks),
  );
  return {
    directory,
    bootMs: Math.round(Number(await readFile(path.join(directory, 'boot-ms'), 'utf8'))),
    sizeBytes: 512 * sizes.reduce((sum, each) => sum + each, 0),
    plan: { ...plan, memoryFile, state },
  };
}

async function save(vm: Vm, file: string): Promise<void> {
  const qmp = await vm.control();
  await qmp.execute('migrate-set-capabilities', SHARED_MEMORY);
  await qmp.execute('migrate', { uri: `exec:cat > '${file.replaceAll("'", "'\\''")}'` });
  for (;;) {
    const { status } = (await qmp.execute('query-migrate')) as { status?: string };
    if (status === 'completed') return;
    if (status === 'failed' || status === 'cancelled') throw new Error('QEMU could not save it');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
