/** What tests of microVMs share. */
import { join } from 'node:path';
import { describe } from 'vitest';
import { kernelsHere } from '#src/sandbox/qemu/kernel.js';
import { createQemuProvider, type QemuProvider } from '#src/sandbox/qemu/provider.js';
import { installCommand, missingPackages } from '#src/sandbox/qemu/tools.js';
import type { Scratch } from '../helpers.js';

async function whyNot(): Promise<string | undefined> {
  try {
    const missing = missingPackages();
    if (missing.length > 0) return installCommand(missing);
  } catch (error) {
    return (error as Error).message;
  }
  return (await kernelsHere()).length > 0 ? undefined : 'jobq-dev sandbox build';
}

const missing = await whyNot();
if (missing !== undefined && process.env.TEST_REQUIRE_QEMU === '1') {
  throw new Error(`TEST_REQUIRE_QEMU=1, but there are no microVMs here; first: ${missing}`);
}

if (missing !== undefined) {
  process.stderr.write(`microVMs are not tested here; first: ${missing}\n`);
}

/** Tests that need a microVM; skipped, with what to do about it, where there can be none. */
export const describeMachines = describe.skipIf(missing !== undefined);
export const withWhy = (name: string) =>
  missing === undefined ? name : `${name} (skipped; first: ${missing})`;

/** Emulation always: the suites hold for the slower one, and what a machine has differs. */
export function qemuProvider(scratch: Scratch, more: object = {}): Promise<QemuProvider> {
  return createQemuProvider({
    workDir: join(scratch.root, 'work'),
    journalDir: join(scratch.root, 'journal'),
    handlersDir: scratch.handlersDir,
    interpreters: ['sh', 'perl'],
    memoryBytes: 512 << 20,
    accelerator: 'tcg',
    ...more,
  });
}
