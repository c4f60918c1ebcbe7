/** What only a microVM can show: of machines that are restored, and of what a crash leaves. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanLeftovers } from '#src/sandbox/leftovers/journal.js';
import type { RunResult, SandboxProvider } from '#src/sandbox/port.js';
import {
  handler,
  makeScratch,
  processes,
  removeScratch,
  type Scratch,
  shell,
  specFor,
  until,
} from '../helpers.js';
import { describeMachines, qemuProvider, withWhy } from './machines.js';

const STAND_IN = fileURLToPath(new URL('./stand-in.mjs', import.meta.url));

describeMachines(withWhy('a microVM'), () => {
  let scratch: Scratch;
  let provider: SandboxProvider;
  beforeAll(async () => {
    scratch = makeScratch();
    provider = await qemuProvider(scratch);
  });
  afterAll(async () => {
    await provider?.close();
    removeScratch(scratch);
  });

  async function sh(source: string): Promise<RunResult> {
    const sandbox = await provider.create(specFor(scratch));
    try {
      return await sandbox.run(shell(scratch, source, { args: [sandbox.outputDir] }));
    } finally {
      await sandbox.kill();
    }
  }
  /** QEMUs whose files are below this test's directory. */
  const machines = (root = scratch.root) =>
    processes().filter(({ pid, state }) => state !== 'Z' && homeOf(pid).startsWith(root));

  it('is no twin of another that was restored from the same snapshot, and knows the time', async () => {
    const source = `cat /proc/sys/kernel/random/uuid; head -c 16 /dev/urandom | od -An -tx1
      perl -e 'print rand(), "\\n"'; date +%s.%N`;
    const before = Date.now() / 1000;
    const [first, second] = [await sh(source), await sh(source)].map(({ stdout }) =>
      stdout.text.trim().split('\n'),
    );
    const after = Date.now() / 1000;
    for (const index of [0, 1, 2]) expect(first![index]).not.toBe(second![index]);
    for (const lines of [first!, second!]) {
      expect(Number(lines[3])).toBeGreaterThan(before - 1);
      expect(Number(lines[3])).toBeLessThan(after + 1);
    }
  });

  it('has no network, no file of the developer, and no handler that can be changed', async () => {
    writeFileSync(join(scratch.root, 'secret'), 'of the developer');
    const { stdout } = await sh(`
      tail -n +3 /proc/net/dev | grep -vc ' lo:'
      cat "${scratch.root}/secret" 2>/dev/null || echo hidden
      touch "$0.x" 2>/dev/null || echo read-only
      touch /tmp/x && touch here && echo writable`);
    expect(stdout.text.trim().split('\n')).toEqual(['0', 'hidden', 'read-only', 'writable']);
  });

  it('leaves no zombie of 200 orphans', async () => {
    const { stdout } = await sh(`
      i=0; while [ $i -lt 200 ]; do (true &) ; i=$((i + 1)); done
      i=0; while grep -qs '^State:.*Z' /proc/[0-9]*/status && [ $i -lt 100 ]; do
        i=$((i + 1)); sleep 0.1
      done
      grep -ls '^State:.*Z' /proc/[0-9]*/status | wc -l`);
    expect(stdout.text.trim()).toBe('0');
  });

  it('brings what a handler wrote out as it was, and nothing through a link', async () => {
    const outputDir = join(scratch.root, 'tree');
    const outside = join(scratch.root, 'outside');
    mkdirSync(outputDir);
    mkdirSync(outside);
    symlinkSync(outside, join(outputDir, 'away'));
    writeFileSync(join(outputDir, 'old'), 'before');
    const sandbox = await provider.create(specFor(scratch, { outputDir }));
    const source = `cd "$1"; cat old; rm old away; mkdir -p away/deep; echo in > away/deep/file
      printf x > "$(printf 'b\\377')"; printf '#!' > run; chmod 755 run; ln -s deep away/link`;
    const result = await sandbox.run(shell(scratch, source, { args: [sandbox.outputDir] }));
    await sandbox.kill();
    expect(result.stdout.text).toBe('before');
    expect(readdirSync(outside)).toEqual([]);
    expect(readdirSync(outputDir, { encoding: 'latin1' }).sort()).toEqual(['away', 'b\xff', 'run']);
    expect(readFileSync(join(outputDir, 'away/link/file'), 'utf8')).toBe('in\n');
  });

  it('gives the files of a job that timed out', async () => {
    const outputDir = join(scratch.root, 'half');
    mkdirSync(outputDir);
    const sandbox = await provider.create(specFor(scratch, { outputDir }));
    const source = 'echo half > "$1/file"; echo ready; sleep 60';
    const result = await sandbox.run(
      shell(scratch, source, { args: [sandbox.outputDir], timeoutMs: 4_000 }),
    );
    await sandbox.kill();
    expect(result.outcome.kind).toBe('timeout');
    expect(readFileSync(join(outputDir, 'file'), 'utf8')).toBe('half\n');
  });

  it('tells that the machine itself went away', async () => {
    const sandbox = await provider.create(specFor(scratch));
    const source = 'echo go; echo c > /proc/sysrq-trigger; sleep 60';
    const result = await sandbox.run(shell(scratch, source));
    await sandbox.kill();
    expect(result.outcome).toEqual({
      kind: 'lost',
      reason: expect.stringContaining('the microVM ended'),
    });
  });

  it('leaves no machine and no directory', async () => {
    for (let n = 0; n < 3; n += 1) await sh('true');
    await until('no machine', () => machines().length === 0);
    const [own] = readdirSync(join(scratch.root, 'work'));
    expect(readdirSync(join(scratch.root, 'work', own!))).toEqual([]);
  });

  it('dies with jobq-dev, however that dies; the next start removes its directory', async () => {
    const own = makeScratch();
    const script = handler(own, 'sleep.sh', 'echo go; sleep 300');
    const child: ChildProcess = spawn(process.execPath, [STAND_IN, own.root, script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout!, 'data');
    expect(machines(own.root)).toHaveLength(1);
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    await until('no machine', () => machines(own.root).length === 0, 2_000);
    expect(readdirSync(join(own.root, 'work'))).toHaveLength(1);
    await cleanLeftovers(join(own.root, 'journal'));
    expect(readdirSync(join(own.root, 'work'))).toEqual([]);
    expect(existsSync(join(own.root, 'journal')) && readdirSync(join(own.root, 'journal'))).toEqual(
      [],
    );
    removeScratch(own);
  });
});

function homeOf(pid: number): string {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    const isMachine = readFileSync(`/proc/${pid}/comm`, 'latin1').startsWith('qemu');
    return isMachine ? (environment.find((each) => each.startsWith('HOME='))?.slice(5) ?? '') : '';
  } catch {
    return ''; // it ended while we looked
  }
}
