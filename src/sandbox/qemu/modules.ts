/** The kernel modules that a guest needs, in the order in which they are loaded. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** Disks, the port, the runtime's file system, what is written on top, and the scratch disk. */
const WANTED = ['virtio_pci', 'virtio_blk', 'virtio_console', 'squashfs', 'overlay', 'ext4'];

const UNPACK: Record<string, readonly [string, ...string[]]> = {
  '.xz': ['xz', '-dc'],
  '.zst': ['zstd', '-dc'],
  '.gz': ['gzip', '-dc'],
};

export interface KernelModule {
  name: string;
  data: Buffer;
}

/**
 * Reads the modules from a directory such as `/lib/modules/6.1.0-57-cloud-amd64`. What depends on
 * what stands in the modules themselves; a package that was only unpacked has no list of it.
 * @throws Error naming a module that is neither there nor built into the kernel.
 */
export async function readModules(directory: string): Promise<KernelModule[]> {
  const files = new Map<string, string>();
  for (const relative of await readdir(directory, { recursive: true })) {
    const name = /([^/]+)\.ko(?:\.\w+)?$/.exec(relative)?.[1];
    if (name !== undefined) files.set(name.replaceAll('-', '_'), path.join(directory, relative));
  }
  const builtin = await readFile(path.join(directory, 'modules.builtin'), 'utf8').catch(() => '');
  const isBuiltIn = (name: string) =>
    new RegExp(`/${name.replaceAll('_', '[-_]')}\\.ko$`, 'm').test(builtin);
  const found = new Map<string, KernelModule>();
  async function add(name: string): Promise<void> {
    const file = files.get(name);
    if (file === undefined) {
      if (isBuiltIn(name)) return;
      throw new Error(`the kernel of ${directory} has no module ${name}`);
    }
    if (found.has(name)) return;
    const data = await unpacked(file);
    for (const needed of dependencies(data)) await add(needed);
    found.set(name, { name, data });
  }
  for (const name of WANTED) await add(name);
  // ext4 asks for it by an alias; its library finds it at run time.
  if (files.has('crc32c_generic')) await add('crc32c_generic');
  return inLoadingOrder([...found.values()]);
}

/** crc32c has to be there before ext4 is. */
function inLoadingOrder(modules: KernelModule[]): KernelModule[] {
  const isFirst = ({ name }: KernelModule) => name === 'crc32c_generic';
  return [...modules.filter(isFirst), ...modules.filter((each) => !isFirst(each))];
}

async function unpacked(file: string): Promise<Buffer> {
  const command = UNPACK[path.extname(file)];
  if (command === undefined) return readFile(file);
  const [program, ...options] = command;
  const { stdout } = await promisify(execFile)(program, [...options, file], {
    encoding: 'buffer',
    maxBuffer: 256 << 20,
  });
  return stdout;
}

/** From the section `.modinfo`: `depends=mbcache,jbd2`. */
function dependencies(module: Buffer): string[] {
  const [, list = ''] = /\0depends=([\w,-]*)\0/.exec(module.toString('latin1')) ?? [];
  return list.split(',').flatMap((name) => (name === '' ? [] : [name.replaceAll('-', '_')]));
}
