/** The guest's kernel: one that is given, one that was fetched before, or the machine's own. */
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { release } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { JobqError } from '../../errors.js';
import { cacheDir, cached } from './cache.js';
import { machineHere } from './machine.js';

const run = promisify(execFile);

export interface Kernel {
  /** Absolute. */
  file: string;
  /** Directory of its modules, absolute. */
  modules: string;
  release: string;
}

/** The kernels that are on this machine, the most fitting one first. */
export async function kernelsHere(given?: string): Promise<Kernel[]> {
  if (given !== undefined) return [given].flatMap(kernelOf);
  const fetched = path.join(cacheDir(), 'kernels');
  const names = await readdir(fetched).catch(() => []);
  const files = [
    ...names
      .filter((name) => !name.startsWith('.'))
      .map((name) => path.join(fetched, name, `boot/vmlinuz-${name}`)),
    `/boot/vmlinuz-${release()}`,
    ...(await readdir('/boot').catch(() => []))
      .filter((name) => name.startsWith('vmlinuz-'))
      .map((name) => path.join('/boot', name)),
  ];
  return [...new Set(files)].flatMap(kernelOf);
}

/** Modules stand where a package puts them: `lib/modules/<release>` below the root of `boot`. */
function kernelOf(file: string): Kernel[] {
  const found = /^vmlinuz-(.+)$/.exec(path.basename(file))?.[1];
  if (found === undefined || !isReadable(file)) return [];
  const root = path.dirname(path.dirname(file));
  const modules = [root, '/', '/usr']
    .map((each) => path.join(each, 'lib/modules', found))
    .find((each) => existsSync(each));
  return modules === undefined ? [] : [{ file, modules, release: found }];
}

/** Ubuntu keeps its kernels for root's eyes. */
function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Fetches Debian's kernel for virtual machines with apt-get, unpacks it into the cache and installs
 * nothing.
 * @throws JobqError `sandbox-unavailable`
 */
export async function fetchKernel(): Promise<Kernel> {
  const { kernelPackage } = machineHere();
  try {
    const { stdout } = await run('apt-cache', ['depends', kernelPackage]);
    const name = /Depends: (linux-image-\S+)/.exec(stdout)?.[1];
    if (name === undefined) throw new Error(`apt-cache knows no ${kernelPackage}`);
    const version = name.replace(/^linux-image-(unsigned-)?/, '');
    const directory = await cached('kernels', version, (draft) => unpack(name, version, draft));
    const [kernel] = kernelOf(path.join(directory, `boot/vmlinuz-${version}`));
    if (kernel === undefined) throw new Error(`${name} holds no kernel`);
    return kernel;
  } catch (error) {
    throw new JobqError(
      'sandbox-unavailable',
      `no kernel could be fetched: ${(error as Error).message.trim().split('\n').at(-1)}`,
      'Give one as "vmKernel": /path/to/boot/vmlinuz-<release>, with its modules in lib/modules/<release>.',
      { cause: error },
    );
  }
}

async function unpack(name: string, version: string, draft: string): Promise<void> {
  const temporary = await mkdtemp(path.join(draft, 'package-'));
  await run('apt-get', ['-qq', 'download', name], { cwd: temporary });
  const [file] = await readdir(temporary);
  await run('dpkg-deb', ['-x', file!, 'root'], { cwd: temporary });
  await mkdir(path.join(draft, 'boot'));
  await copyFile(
    path.join(temporary, `root/boot/vmlinuz-${version}`),
    path.join(draft, `boot/vmlinuz-${version}`),
  );
  const modules = ['lib/modules', 'usr/lib/modules']
    .map((each) => path.join(temporary, 'root', each, version))
    .find((each) => existsSync(each));
  await cp(modules!, path.join(draft, 'lib/modules', version), { recursive: true });
  await rm(temporary, { recursive: true });
}
