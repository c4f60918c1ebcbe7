import { describe, expect, it } from 'vitest';
import { Sandboxes } from '#src/drain/sandboxes.js';
import { JobqError } from '#src/errors.js';
import type { SandboxName, SandboxProvider } from '#src/sandbox/port.js';

/** Sandboxes whose providers say when they are made and closed, and that empty on request. */
function world({ fails = [] as string[] } = {}) {
  const log: string[] = [];
  const empty = new Map<string, () => void>();
  const sandboxes = new Sandboxes({
    make: async (asked = 'auto') => {
      if (fails.includes(asked)) throw new JobqError('sandbox-unavailable', `no ${asked}`);
      const name = asked === 'auto' ? 'process' : asked;
      log.push(`made ${name}`);
      return { name, close: async () => void log.push(`closed ${name}`) } as SandboxProvider;
    },
    unused: (provider) =>
      new Promise((resolve) => {
        empty.set(provider.name, resolve);
      }),
  });
  return { sandboxes, log, empty };
}

const use = async (sandboxes: Sandboxes, name: SandboxName) => (await sandboxes.use(name)).name;
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('sandboxes', () => {
  it('make the first provider once, when it is asked for', async () => {
    const { sandboxes, log } = world();
    expect(sandboxes.current).toBeUndefined();
    const [first, second] = await Promise.all([sandboxes.first(), sandboxes.first()]);
    expect(first).toBe(second);
    expect(sandboxes.current).toBe(first);
    expect(log).toEqual(['made process']);
  });

  it('use another from now on, and close the old one when nothing runs in it any more', async () => {
    const { sandboxes, log, empty } = world();
    await sandboxes.first();
    expect(await use(sandboxes, 'qemu')).toBe('qemu');
    expect(sandboxes.current!.name).toBe('qemu');
    await settled();
    expect(log).toEqual(['made process', 'made qemu']);
    empty.get('process')!();
    await settled();
    expect(log).toEqual(['made process', 'made qemu', 'closed process']);
  });

  it('keep the one in use when it is what was asked for, by name or by choice', async () => {
    const { sandboxes, log } = world();
    const first = await sandboxes.first();
    expect(await sandboxes.use('process')).toBe(first);
    expect(await sandboxes.use('auto')).toBe(first);
    expect(log).toEqual(['made process', 'made process', 'closed process']);
  });

  it('keep the one in use when another cannot be had', async () => {
    const { sandboxes, log } = world({ fails: ['qemu'] });
    const first = await sandboxes.first();
    await expect(sandboxes.use('qemu')).rejects.toMatchObject({ code: 'sandbox-unavailable' });
    expect(sandboxes.current).toBe(first);
    expect(log).toEqual(['made process']);
    expect(await use(sandboxes, 'pandastack')).toBe('pandastack');
  });

  it('take swaps in their turns', async () => {
    const { sandboxes, log, empty } = world();
    const names = ['qemu', 'pandastack', 'qemu'] as const;
    expect(await Promise.all(names.map((name) => use(sandboxes, name)))).toEqual(names);
    for (const done of empty.values()) done();
    await settled();
    expect(log.filter((line) => line === 'made qemu')).toHaveLength(2);
    expect(sandboxes.current!.name).toBe('qemu');
  });

  it('close every provider, also one that is being made and one that still has attempts', async () => {
    const { sandboxes, log } = world();
    await sandboxes.first();
    await sandboxes.use('qemu');
    void sandboxes.use('pandastack');
    await sandboxes.close();
    expect(log.filter((line) => line.startsWith('made')).sort()).toEqual(
      log
        .filter((line) => line.startsWith('closed'))
        .map((line) => line.replace('closed', 'made'))
        .sort(),
    );
  });

  it('close when none could be made', async () => {
    const { sandboxes } = world({ fails: ['auto'] });
    await expect(sandboxes.first()).rejects.toThrow('no auto');
    await sandboxes.close();
  });
});
