/** What of the qemu provider is there on this machine; nothing is made. */
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { JobqError } from '../../errors.js';
import { cacheDir } from './cache.js';
import { hardwareHere } from './choose.js';
import { kernelsHere } from './kernel.js';
import type { Probe } from './probe.js';
import { findTools, installCommand, missingPackages } from './tools.js';

export interface QemuCheck {
  /** Why there can be none here, and what to do about it. */
  impossible?: JobqError;
  /** The command that installs what is missing. */
  install?: string;
  qemuVersion?: string;
  /** Release of the guest's kernel. */
  kernel?: string;
  hardware: Probe;
  /** From start to ready of the machine that was saved last. Milliseconds. */
  lastBootMs?: number;
}

export async function checkQemu(kernelFile: string | undefined): Promise<QemuCheck> {
  let missing: string[];
  try {
    missing = missingPackages();
  } catch (error) {
    if (!(error instanceof JobqError)) throw error;
    return { impossible: error, hardware: { works: false, reason: error.message } };
  }
  const hardware = await hardwareHere(kernelFile);
  if (missing.length > 0) return { install: installCommand(missing), hardware };
  const [kernel] = await kernelsHere(kernelFile);
  const lastBootMs = await lastBoot();
  return {
    qemuVersion: (await findTools()).qemuVersion,
    ...(kernel !== undefined && { kernel: kernel.release }),
    hardware,
    ...(lastBootMs !== undefined && { lastBootMs }),
  };
}

async function lastBoot(): Promise<number | undefined> {
  const folder = path.join(cacheDir(), 'snapshots');
  if (!existsSync(folder)) return undefined;
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
  const files = names.map((name) => path.join(folder, name, 'boot-ms'));
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  const newest = files[times.indexOf(Math.max(...times))];
  return newest === undefined ? undefined : Math.round(Number(await readFile(newest, 'utf8')));
}
