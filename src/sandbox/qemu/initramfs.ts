/** The guest's first file system: busybox, the kernel's modules and init.sh. */
import { readFile } from 'node:fs/promises';
import { type CpioEntry, DIRECTORY, PLAIN_FILE, PROGRAM, writeCpio } from './cpio.js';
import type { KernelModule } from './modules.js';

const INIT = new URL('./init.sh', import.meta.url);

export async function makeInitramfs(
  busybox: string,
  modules: readonly KernelModule[],
): Promise<Buffer> {
  const entries: CpioEntry[] = [
    { path: 'bin', mode: DIRECTORY },
    { path: 'bin/busybox', mode: PROGRAM, data: await readFile(busybox) },
    { path: 'init', mode: PROGRAM, data: await readFile(INIT) },
    { path: 'modules', mode: DIRECTORY },
    {
      path: 'modules/order',
      mode: PLAIN_FILE,
      data: Buffer.from(modules.map(({ name }) => `${name}\n`).join('')),
    },
    ...modules.map(({ name, data }) => ({ path: `modules/${name}.ko`, mode: PLAIN_FILE, data })),
  ];
  return writeCpio(entries);
}
