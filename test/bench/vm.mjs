/** MicroVMs: what a snapshot, a warm pool, a shared machine and a second one at a time are worth. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { imageBytes } from '#src/sandbox/qemu/image.js';
import { chooseAccelerator, createQemuProvider } from '#src/sandbox/qemu/index.js';
import { QemuSandbox } from '#src/sandbox/qemu/sandbox.js';
import { Vm } from '#src/sandbox/qemu/vm.js';
import { sharing } from '#src/sandbox/shared.js';
import { compare, report, spread, timed } from './measure.mjs';

const ROUNDS = 3;
const JOBS = 10;
const MIB = 1024 ** 2;

export async function vm() {
  const dir = mkdtempSync(path.join(tmpdir(), 'jobq-bench-'));
  const handlersDir = path.join(dir, 'handlers');
  const outputDir = path.join(dir, 'output');
  mkdirSync(handlersDir);
  mkdirSync(outputDir);
  writeFileSync(path.join(handlersDir, 'trivial.sh'), 'echo started\n');
  const spec = {
    handlersDir,
    outputDir,
    memoryBytes: 512 * MIB,
    ttlMs: 600_000,
    label: 'bench',
    kind: 'trivial',
  };
  const options = {
    workDir: path.join(dir, 'work'),
    journalDir: path.join(dir, 'journal'),
    handlersDir,
    interpreters: ['sh'],
    memoryBytes: spec.memoryBytes,
    accelerator: await chooseAccelerator(),
  };
  /** Milliseconds until the handler's first output. */
  const firstOutput = async (start) => {
    const begun = performance.now();
    const sandbox = await start();
    let after = Number.NaN;
    await sandbox.run({
      interpreter: ['sh'],
      script: 'trivial.sh',
      args: [],
      env: {},
      timeoutMs: 120_000,
      outputLimitBytes: MIB,
      onOutput: () => {
        after = performance.now() - begun;
      },
    });
    await sandbox.kill();
    return after;
  };
  const job = (provider) => firstOutput(() => provider.create(spec));

  const plain = await createQemuProvider(options);
  const warm = await createQemuProvider({ ...options, warm: 1 });
  try {
    console.log(`     ${plain.description}`);
    const { image, snapshot } = plain;
    console.log(
      `     image ${mebibytes(await imageBytes(image))}, snapshot ${mebibytes(snapshot.sizeBytes)}`,
    );
    await job(plain);

    let boots = 0;
    const boot = () =>
      firstOutput(async () => {
        boots += 1;
        const memoryFile = path.join(dir, `memory-${boots}`);
        writeFileSync(memoryFile, '');
        const { state: _, ...plan } = snapshot.plan;
        const directory = path.join(dir, `boot-${boots}`);
        const machine = await Vm.start({ ...plan, memoryFile, directory });
        await machine.agent.wake(machine.ended, 300_000);
        await machine.agent.request('B', handlersDir, machine.ended, 60_000);
        return QemuSandbox.prepare(machine, spec, { packages: [], release: () => {} });
      });
    report(
      'restored to first command, over booted to first command',
      await compare({ rounds: ROUNDS, ours: () => job(plain), bare: boot }),
      { limit: 0.2 },
    );

    const fromPool = async () => {
      while (warm.warm < 1) await new Promise((resolve) => setTimeout(resolve, 50));
      return job(warm);
    };
    await fromPool();
    while (warm.warm < 1) await new Promise((resolve) => setTimeout(resolve, 50));
    console.log(`     an idle warm machine holds ${mebibytes(residentBytes(dir))} of its own`);
    report(
      'from a warm pool to the first command, over restored',
      await compare({ rounds: ROUNDS, ours: fromPool, bare: () => job(plain) }),
      { limit: 0.3 },
    );

    const shared = sharing(plain, JOBS);
    const ten = (provider) => () =>
      timed(async () => {
        for (let n = 0; n < JOBS; n += 1) await job(provider);
      });
    report(
      `${JOBS} jobs in one machine, over ${JOBS} in ${JOBS}`,
      await compare({ rounds: ROUNDS, ours: ten(shared), bare: ten(plain) }),
      { limit: 0.5 },
    );

    const lanes = (width, work) => () => timed(() => spread(JOBS, width, work));
    const two = (work) => compare({ rounds: ROUNDS, ours: lanes(2, work), bare: lanes(1, work) });
    const loops = await two(busyProcess);
    console.log(
      `     two processes that only compute do ${(loops.bare / loops.ours).toFixed(2)} times as much as one here`,
    );
    report('throughput of two at a time, over one', await two(() => job(plain)), {
      limit: 1.6,
      atLeast: true,
    });
  } finally {
    await warm.close();
    await plain.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Half a second of a core, and of nothing else. */
async function busyProcess() {
  const child = spawn(process.execPath, ['-e', 'for (let n = 0; n < 3e8; n += 1);']);
  await once(child, 'close');
}

/** Private memory of the one machine whose files are below `dir`; what it shares is the snapshot. */
function residentBytes(dir) {
  for (const pid of processes()) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`HOME=${dir}/`)) continue;
      const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      const kilobytes = [...text.matchAll(/^Private_\w+:\s+(\d+) kB/gm)].map(([, n]) => Number(n));
      return 1024 * kilobytes.reduce((sum, each) => sum + each, 0);
    } catch {
      // gone, or another user's
    }
  }
  return Number.NaN;
}

function processes() {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

function mebibytes(bytes) {
  return `${Math.round(bytes / MIB)} MiB`;
}
