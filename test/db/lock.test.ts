import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireLock, type OwnerInfo, readOwner } from '#src/db/lock.js';
import { processStart } from '#src/process-identity.js';
import { tempDir } from '../support/temp-dir.js';

interface Contender {
  child: ChildProcessByStdio<Writable, Readable, null>;
  next(): Promise<{ ready?: number; won?: number; lost?: string; message?: string }>;
  go(): void;
  end(): Promise<void>;
}

async function contender(dir: string, how: 'release' | 'die' = 'release'): Promise<Contender> {
  const script = fileURLToPath(new URL('./lock-contender.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, dir, how], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: Interface = createInterface({ input: child.stdout });
  const queue = lines[Symbol.asyncIterator]();
  const exited = once(child, 'exit');
  const self: Contender = {
    child,
    next: async () => JSON.parse((await queue.next()).value),
    go: () => void child.stdin.write('go\n'),
    end: async () => {
      child.stdin.end();
      await exited;
    },
  };
  expect((await self.next()).ready).toBe(child.pid);
  return self;
}

/** A lock whose owner was killed. */
async function staleLock(dir: string): Promise<void> {
  const owner = await contender(dir, 'die');
  owner.go();
  expect((await owner.next()).won).toBe(owner.child.pid);
  await owner.end();
}

function writeOwner(dir: string, generation: number, owner: Partial<OwnerInfo>): void {
  const info: OwnerInfo = {
    pid: process.pid,
    processStart: processStart(process.pid)!,
    host: hostname(),
    command: 'jobq-dev',
    startedAt: '2026-01-02T03:04:05.000Z',
    ...owner,
  };
  writeFileSync(join(dir, `lock.${generation}`), JSON.stringify(info));
}

describe('the lock of a data directory', () => {
  it('is taken, shown, extended and given back', async () => {
    const dir = tempDir();
    expect(await readOwner(dir)).toBeUndefined();
    const lock = await acquireLock(dir, { command: 'jobq-dev' });
    lock.update({ url: 'http://127.0.0.1:5627' });
    expect(await readOwner(dir)).toMatchObject({
      pid: process.pid,
      command: 'jobq-dev',
      url: 'http://127.0.0.1:5627',
    });
    expect(lock.info.url).toBe('http://127.0.0.1:5627');
    lock.release();
    lock.release();
    expect(await readOwner(dir)).toBeUndefined();
    (await acquireLock(dir, { command: 'jobq-dev' })).release();
  });

  it('has no owner where there is no directory', async () => {
    expect(await readOwner(join(tempDir(), 'missing'))).toBeUndefined();
  });

  it('refuses a second owner, in the same process too, and names the first', async () => {
    const dir = tempDir();
    const lock = await acquireLock(dir, { command: 'jobq-dev demo' });
    await expect(acquireLock(dir, { command: 'x' })).rejects.toMatchObject({
      code: 'directory-locked',
      message: `${dir} is in use by process ${process.pid} (jobq-dev demo), started ${lock.info.startedAt}`,
      hint: expect.stringContaining('--data-dir'),
    });
    lock.release();
  });

  it('is not stolen from an owner that is stopped', async () => {
    const dir = tempDir();
    const owner = await contender(dir);
    owner.go();
    await owner.next();
    owner.child.kill('SIGSTOP');
    await expect(acquireLock(dir, { command: 'x' })).rejects.toMatchObject({
      code: 'directory-locked',
    });
    owner.child.kill('SIGCONT');
    await owner.end();
  });

  it('is taken over at once from an owner that was killed', async () => {
    const dir = tempDir();
    await staleLock(dir);
    expect(await readOwner(dir)).toBeUndefined();
    const lock = await acquireLock(dir, { command: 'x' });
    expect((await readOwner(dir))?.pid).toBe(process.pid);
    lock.release();
  });

  it('is taken over when the pid belongs to another process now', async () => {
    const dir = tempDir();
    writeOwner(dir, 1, { processStart: 'another-boot:123' });
    expect(await readOwner(dir)).toBeUndefined();
    (await acquireLock(dir, { command: 'x' })).release();
  });

  it('is never taken from another machine, and says how to go on', async () => {
    const dir = tempDir();
    writeOwner(dir, 3, { host: 'elsewhere', pid: 2 ** 22 });
    await expect(acquireLock(dir, { command: 'x' })).rejects.toMatchObject({
      code: 'directory-locked',
      message: expect.stringContaining('on another machine: elsewhere'),
      hint: expect.stringContaining(join(dir, 'lock.*')),
    });
  });

  it('a release cannot undo a later generation, and leftovers are cleared', async () => {
    const dir = tempDir();
    writeOwner(dir, 7, { processStart: 'another-boot:123' });
    writeFileSync(join(dir, 'lock.new.4194304.0'), 'a draft of a process that died');
    const lock = await acquireLock(dir, { command: 'x' });
    expect(readdirSync(dir)).toEqual(['lock.8']);
    lock.release();
    expect(readdirSync(dir)).toEqual(['lock.8']);
  });

  it('goes to exactly one of 20 processes that race over a dead owner, again and again', async () => {
    const dir = tempDir();
    for (let round = 0; round < 3; round += 1) {
      await staleLock(dir);
      const all = await Promise.all(Array.from({ length: 20 }, () => contender(dir, 'die')));
      for (const each of all) each.go();
      const results = await Promise.all(all.map((each) => each.next()));
      const winners = results.filter(({ won }) => won !== undefined);
      expect(winners).toHaveLength(1);
      const losers = results.filter(({ lost }) => lost !== undefined);
      expect(losers.map(({ lost }) => lost)).toEqual(Array(19).fill('directory-locked'));
      for (const { message } of losers) expect(message).toContain(`process ${winners[0]!.won} `);
      await Promise.all(all.map((each) => each.end()));
    }
  }, 120_000);
});
