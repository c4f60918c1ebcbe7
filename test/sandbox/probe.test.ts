/** A probe believes a boot and nothing else. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Kernel, kernelsHere } from '#src/sandbox/qemu/kernel.js';
import { probeBoot } from '#src/sandbox/qemu/probe.js';
import { findTools, type Tools } from '#src/sandbox/qemu/tools.js';
import { handler, makeScratch, removeScratch, type Scratch } from './helpers.js';
import { describeMachines, withWhy } from './qemu/machines.js';

describeMachines(withWhy('the probe'), () => {
  let scratch: Scratch;
  let tools: Tools;
  let kernel: Kernel;
  beforeAll(async () => {
    scratch = makeScratch();
    tools = await findTools();
    kernel = (await kernelsHere())[0]!;
  });
  afterAll(() => removeScratch(scratch));
  const program = (source: string) =>
    join(scratch.handlersDir, handler(scratch, 'qemu', `#!/bin/sh\n${source}\n`, 0o755));

  it('works where a guest says that it has come up', async () => {
    const found = await probeBoot(tools, kernel, 'tcg', 60_000);
    expect(found).toEqual({ works: true, bootMs: expect.any(Number) });
  });

  it('does not work where QEMU runs and no guest does', async () => {
    const qemu = program('exec sleep 300');
    const found = await probeBoot({ ...tools, qemu }, kernel, 'kvm', 300);
    expect(found).toEqual({ works: false, reason: 'no guest came up within 0.3 s' });
  });

  it('says what QEMU says when it gives up', async () => {
    const qemu = program('echo "qemu: error: kvm run failed" >&2; exit 1');
    const found = await probeBoot({ ...tools, qemu }, kernel, 'kvm');
    expect(found).toEqual({ works: false, reason: 'qemu: error: kvm run failed' });
  });

  it('is not taken in by a guest that is none', async () => {
    const file = join(scratch.root, 'vmlinuz-none');
    writeFileSync(file, 'no kernel');
    const found = await probeBoot(tools, { file }, 'tcg');
    expect(found).toEqual({ works: false, reason: expect.any(String) });
  });
});
