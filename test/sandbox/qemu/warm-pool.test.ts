/** Machines that wait for a job: each is used once, and none is left. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { QemuProvider } from '#src/sandbox/qemu/provider.js';
import { makeScratch, removeScratch, type Scratch, shell, specFor, until } from '../helpers.js';
import { describeMachines, qemuProvider, withWhy } from './machines.js';

describeMachines(withWhy('the warm pool'), () => {
  let scratch: Scratch;
  let provider: QemuProvider;
  beforeEach(async () => {
    scratch = makeScratch();
    provider = await qemuProvider(scratch, { warm: 1 });
    await until('a warm machine', () => provider.warm === 1, 60_000);
  });
  afterEach(async () => {
    await provider.close();
    removeScratch(scratch);
  });

  it('gives a machine that nobody has used, and makes the next', async () => {
    const run = async () => {
      const sandbox = await provider.create(specFor(scratch));
      const source = 'ls; touch used; cat /proc/sys/kernel/random/uuid; date +%s';
      const { stdout } = await sandbox.run(shell(scratch, source));
      await sandbox.kill();
      return stdout.text.trim().split('\n');
    };
    const [id, seconds, ...rest] = await run();
    expect(rest).toEqual([]);
    expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(5);
    await until('another', () => provider.warm === 1, 60_000);
    const second = await run();
    expect(second).toHaveLength(2);
    expect(second[0]).not.toBe(id);
  });

  it('goes with the provider, also one that is being made', async () => {
    const sandbox = await provider.create(specFor(scratch));
    await provider.close();
    expect((await sandbox.run(shell(scratch, 'true'))).outcome.kind).toBe('lost');
    expect(provider.warm).toBe(0);
  });
});
