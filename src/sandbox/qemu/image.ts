/** The guest's disks and kernel, made of what this machine has and kept by their content. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmod,
  constants,
  copyFile,
  mkdir,
  open,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cached } from './cache.js';
import { makeInitramfs } from './initramfs.js';
import type { Kernel } from './kernel.js';
import { readModules } from './modules.js';
import type { Runtime } from './runtime.js';
import type { Tools } from './tools.js';

const run = promisify(execFile);
const AGENT = fileURLToPath(new URL('./agent.pl', import.meta.url));
const INIT = fileURLToPath(new URL('./init.sh', import.meta.url));
/** Where the agent stands in the guest (see init.sh). */
const AGENT_PATH = '/usr/lib/jobq/agent.pl';
/** What a handler may write, at most; the file holds only what was written. */
const SCRATCH_BYTES = 16 * 1024 ** 3;

const OWN_FILES: Record<string, string> = {
  '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n',
  '/etc/group': 'root:x:0:\nnogroup:x:65534:\n',
  '/etc/hosts': '127.0.0.1 localhost jobq\n',
  '/etc/hostname': 'jobq\n',
};

export interface Image {
  /** Changes with its content. */
  id: string;
  kernel: string;
  initramfs: string;
  /** Read-only: programs, libraries, packages. */
  runtime: string;
  /** Empty and formatted; each machine writes on a layer of its own over it. */
  scratch: string;
  /** Shell lines to run before the snapshot. */
  warm: readonly string[];
}

/**
 * @param onMake called when there is none yet, before the work begins.
 * @throws Error saying which step failed.
 */
export async function buildImage(
  tools: Tools,
  kernel: Kernel,
  runtime: Runtime,
  onMake: () => void,
): Promise<Image> {
  const hash = createHash('sha256');
  hash.update(runtime.files.fingerprint());
  hash.update(JSON.stringify([...runtime.links, runtime.warm, OWN_FILES, SCRATCH_BYTES]));
  for (const file of [AGENT, INIT, kernel.file, tools.busybox]) hash.update(await readFile(file));
  const id = hash.digest('hex').slice(0, 20);
  const directory = await cached('images', id, async (draft) => {
    onMake();
    const inDraft = (name: string) => path.join(draft, name);
    await copyFile(kernel.file, inDraft('kernel'));
    const modules = await readModules(kernel.modules);
    await writeFile(inDraft('initramfs'), await makeInitramfs(tools.busybox, modules));
    await stage(runtime, inDraft('root'));
    // lz4: of the kernel's choices the one that is unpacked fastest, which counts under emulation.
    const options = ['-comp', 'lz4', '-all-root', '-noappend', '-no-progress', '-quiet'];
    await run(tools.mksquashfs, [inDraft('root'), inDraft('runtime'), ...options]);
    await rm(inDraft('root'), { recursive: true, force: true });
    await makeScratch(tools.mke2fs, inDraft('scratch'));
  });
  const inImage = (name: string) => path.join(directory, name);
  return {
    id,
    kernel: inImage('kernel'),
    initramfs: inImage('initramfs'),
    runtime: inImage('runtime'),
    scratch: inImage('scratch'),
    warm: runtime.warm,
  };
}

/** Bytes that the image takes on this machine's disk. */
export async function imageBytes(image: Image): Promise<number> {
  const files = [image.kernel, image.initramfs, image.runtime, image.scratch];
  const blocks = await Promise.all(files.map(async (file) => (await stat(file)).blocks));
  return 512 * blocks.reduce((sum, each) => sum + each, 0);
}

async function stage({ files, links }: Runtime, root: string): Promise<void> {
  const place = async (inner: string): Promise<string> => {
    const file = path.join(root, inner);
    await mkdir(path.dirname(file), { recursive: true });
    return file;
  };
  await mkdir(root, { mode: 0o755 });
  for (const inner of files.paths) {
    const { stats, target } = files.get(inner);
    const file = await place(inner);
    if (target !== undefined) await symlink(target, file);
    else if (stats.isDirectory()) await mkdir(file, { recursive: true });
    else {
      await copyFile(inner, file, constants.COPYFILE_FICLONE);
      await chmod(file, stats.mode & 0o777);
    }
  }
  for (const [inner, target] of links) {
    await symlink(target, await place(inner)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  for (const [inner, text] of Object.entries(OWN_FILES)) {
    await writeFile(await place(inner), text);
  }
  await copyFile(AGENT, await place(AGENT_PATH));
  await mkdir(path.join(root, 'root'), { recursive: true });
}

async function makeScratch(mke2fs: string, file: string): Promise<void> {
  const handle = await open(file, 'wx');
  await handle.truncate(SCRATCH_BYTES);
  await handle.close();
  // A machine lives for one job or a few: nothing of it has to survive a crash.
  const features = '^has_journal,^resize_inode,sparse_super2,^metadata_csum,uninit_bg';
  const lazy = 'lazy_itable_init=1,nodiscard';
  await run(mke2fs, ['-q', '-F', '-t', 'ext4', '-m', '0', '-O', features, '-E', lazy, file]);
}
