/** What only the process provider can show: processes of this machine, before and after. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Command, RunResult, Sandbox, SandboxSpec } from '#src/sandbox/port.js';
import { createProcessProvider, type ProcessProvider } from '#src/sandbox/process/index.js';
import { sandboxConformance } from './conformance.js';
import { ESCAPED, ESCAPES } from './escapes.js';
import {
  cgroupsBelow,
  cgroupsOf,
  endMarkedAfterTest,
  handler,
  makeScratch,
  marked,
  marker,
  processes,
  removeScratch,
  type Scratch,
  shell,
  specFor,
  until,
} from './helpers.js';

const optionsFor = (scratch: Scratch) => ({
  workDir: join(scratch.root, 'work'),
  journalDir: join(scratch.root, 'journal'),
});

sandboxConformance('process', (scratch) => createProcessProvider(optionsFor(scratch)));
sandboxConformance('process that watches memory', (scratch) =>
  createProcessProvider({ ...optionsFor(scratch), memory: 'watch' }),
);
sandboxConformance('process without perl', (scratch) =>
  createProcessProvider({ ...optionsFor(scratch), perl: false }),
);

describe('the process provider', () => {
  let scratch: Scratch;
  let provider: ProcessProvider;
  beforeAll(async () => {
    scratch = makeScratch();
    provider = await createProcessProvider(optionsFor(scratch));
  });
  afterAll(async () => {
    await provider.close();
    removeScratch(scratch);
  });

  async function withSandbox<T>(
    use: (sandbox: Sandbox) => Promise<T>,
    spec: Partial<SandboxSpec> = {},
  ): Promise<T> {
    const sandbox = await provider.create(specFor(scratch, spec));
    try {
      return await use(sandbox);
    } finally {
      await sandbox.kill();
    }
  }
  const sh = (
    source: string,
    more: Partial<Command> = {},
    spec: Partial<SandboxSpec> = {},
  ): Promise<RunResult> =>
    withSandbox((sandbox) => sandbox.run(shell(scratch, source, more)), spec);

  /** Starts shell source and waits for its first output. */
  async function start(
    source: string,
    mark: string,
    more: Partial<Command> = {},
    by: ProcessProvider = provider,
  ): Promise<{ sandbox: Sandbox; running: Promise<RunResult> }> {
    const sandbox = await by.create(specFor(scratch));
    let running: Promise<RunResult> | undefined;
    await new Promise<void>((resolve) => {
      const onOutput = (): void => resolve();
      running = sandbox.run(shell(scratch, source, { env: { MARK: mark }, onOutput, ...more }));
    });
    return { sandbox, running: running! };
  }

  const wardens = () =>
    processes().filter((each) => each.parent === process.pid && /warden\.pl/.test(each.command));

  it('is contained by a subreaper here, and says so', () => {
    expect(provider.info).toMatchObject({ mode: 'warden', subreaper: true });
    expect(provider.enforces).toMatchObject({ isolation: 'none', containment: 'subreaper' });
  });

  it('names what a handler left running when it ended by itself, and nothing else', async () => {
    const source = `sleep 1234 & until grep -qs 1234 /proc/$!/cmdline; do :; done; exit 3`;
    const left = await sh(source);
    expect(left.outcome).toEqual({ kind: 'exited', code: 3 });
    expect(left.leftBehind).toEqual(['sleep 1234']);
    expect((await sh('sleep 0.01 & wait')).leftBehind).toEqual([]);
    expect((await sh('sleep 1234', { timeoutMs: 100 })).leftBehind).toBeUndefined();
  });

  it('leaves nothing of a handler that ended', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    const source = `${ESCAPES}
      while [ $(grep -lzxF $MARK /proc/[0-9]*/cmdline 2>/dev/null | wc -l) -lt ${ESCAPED} ]
      do sleep 0.01; done
      echo all`;
    const result = await sh(source, { env: { MARK: mark } });
    // All were there, and jobq-dev did not wait for them.
    expect(result.stdout.text).toBe('all\n');
    expect(result.outcome).toEqual({ kind: 'exited', code: 0 });
    expect(marked(mark)).toEqual([]);
  });

  it('leaves nothing of a handler that timed out', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    const seen = until('all descendants', () => marked(mark).length >= ESCAPED);
    const result = await sh(`${ESCAPES} sleep 300 & wait`, {
      env: { MARK: mark },
      timeoutMs: 3000,
    });
    await seen;
    expect(result.outcome.kind).toBe('timeout');
    expect(marked(mark)).toEqual([]);
  });

  it('leaves nothing of a handler that was killed', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    const { sandbox, running } = await start(`${ESCAPES} echo go; sleep 300 & wait`, mark);
    await until('all descendants', () => marked(mark).length >= ESCAPED);
    await sandbox.kill();
    expect(marked(mark)).toEqual([]);
    expect((await running).outcome.kind).toBe('lost');
  });

  it('leaves no zombie of 200 orphans', async () => {
    const source =
      'i=0; while [ $i -lt 200 ]; do (sh -c "exit 3" &); i=$((i+1)); done; echo started';
    const result = await sh(source);
    expect(result.stdout.text).toBe('started\n');
    // Monitors, and what they keep ready for the next command, are all that may be left.
    const all = processes();
    const isOurs = (pid: number): boolean => {
      const parent = all.find((each) => each.pid === pid)?.parent ?? 0;
      return parent === process.pid || (parent > 1 && isOurs(parent));
    };
    const left = all.filter((each) => isOurs(each.pid));
    expect(left.length).toBeGreaterThan(0);
    expect(left.filter((each) => each.state === 'Z')).toEqual([]);
    expect(left.filter((each) => !each.command.includes('warden.pl'))).toEqual([]);
  });

  it('ends processes that fork away from the kill', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    // Twelve chains; each link forks the next and is gone. They give up after ten seconds.
    const hop = handler(
      scratch,
      'hop.pl',
      `my ($mark, $end) = ($ARGV[0], time + 10);
       for (1 .. 12) { next if fork; setpgrp; while (time < $end) { exit if fork } exit }
       syswrite STDOUT, "hopping\\n"; sleep 30;`,
    );
    const { sandbox, running } = await start('', mark, {
      interpreter: ['perl'],
      script: hop,
      args: [mark],
    });
    await until('processes', () => marked(mark).length > 5);
    await sandbox.kill();
    expect(marked(mark)).toEqual([]);
    expect((await running).stdout.text).toBe('hopping\n');
  });

  it('frees the port that a child of a timed out handler listened on', async () => {
    const listen = handler(
      scratch,
      'listen.mjs',
      `import { spawn } from 'node:child_process';
       const code = "const s = require('net').createServer().listen(0, '127.0.0.1', () => console.log(s.address().port))";
       spawn(process.execPath, ['-e', code], { detached: true, stdio: 'inherit' });
       setTimeout(() => {}, 30_000);`,
    );
    const result = await sh('', { interpreter: ['node'], script: listen, timeoutMs: 4000 });
    expect(result.outcome.kind).toBe('timeout');
    const port = Number(result.stdout.text);
    expect(port).toBeGreaterThan(0);
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    server.close();
  });

  it('survives a handler that kills its monitor', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    const result = await sh(`${ESCAPES} echo go; kill -9 $PPID; sleep $MARK`, {
      env: { MARK: mark },
    });
    expect(result.outcome).toEqual({
      kind: 'lost',
      reason: expect.stringContaining('watches the handler'),
    });
    expect(marked(mark)).toEqual([]);
    expect((await sh('echo fine')).stdout.text).toBe('fine\n');
  });

  it('survives a handler that stops its monitor: it can still be ended', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    const sandbox = await provider.create(specFor(scratch));
    const source = 'setsid sleep $MARK & kill -STOP $PPID; sleep $MARK';
    const running = sandbox.run(shell(scratch, source, { env: { MARK: mark } }));
    // The second sleep comes after the stop.
    await until('both sleep', () => marked(mark).length === 2);
    await sandbox.kill();
    expect((await running).outcome.kind).toBe('lost');
    expect(marked(mark)).toEqual([]);
  });

  it('shrugs off the other signals a handler sends upwards', async () => {
    const result = await sh(
      'for s in HUP INT QUIT TERM USR1 USR2; do kill -$s $PPID; done; echo ok',
    );
    expect(result.outcome).toEqual({ kind: 'exited', code: 0 });
    expect(result.stdout.text).toBe('ok\n');
  });

  it('loses what runs when the warden dies, ends it, and starts a new one', async () => {
    const own = await createProcessProvider(optionsFor(scratch));
    const before = wardens().map((each) => each.pid);
    const mark = marker();
    endMarkedAfterTest(mark);
    const { sandbox, running } = await start(`${ESCAPES} echo go; sleep 300`, mark, {}, own);
    const mine = before.find((pid) =>
      readFileSync(`/proc/${pid}/environ`, 'latin1').includes(
        sandbox.workspace.slice(0, sandbox.workspace.lastIndexOf('/')),
      ),
    );
    process.kill(mine!, 'SIGKILL');
    expect((await running).outcome).toEqual({
      kind: 'lost',
      reason: expect.stringContaining('warden'),
    });
    expect(marked(mark)).toEqual([]);
    await sandbox.kill();
    const next = await own.create(specFor(scratch));
    expect((await next.run(shell(scratch, 'echo again'))).stdout.text).toBe('again\n');
    const journal = join(scratch.root, 'journal');
    const socketDirs: string[] = readdirSync(journal)
      .map((file) => JSON.parse(readFileSync(join(journal, file), 'utf8')))
      .find((entry) => sandbox.workspace.startsWith(entry.workDir)).directories;
    expect(socketDirs).toHaveLength(2);
    await own.close();
    expect(socketDirs.filter((directory) => existsSync(directory))).toEqual([]);
  });

  it('counts the memory of the whole tree', async () => {
    const hog = `my $n = 30_000_000; my $x = "x" x $n; syswrite STDOUT, "."; sleep 30`;
    const five = `for i in 1 2 3 4 5; do perl -e '${hog}' & done; wait`;
    const result = await sh(five, {}, { memoryBytes: 120 << 20 });
    expect(result.memoryExceeded).toBe(true);
    expect(result.outcome).toEqual({ kind: 'signaled', signal: 'SIGKILL' });
    expect(result.peakMemoryBytes).toBeGreaterThanOrEqual(120 << 20);

    // Two of them hold theirs for a second (some ten looks), and end by themselves.
    const two = `for i in 1 2; do perl -e '${hog.replace('sleep 30', 'sleep 1')}' & done; wait`;
    const fewer = await sh(two, {}, { memoryBytes: 120 << 20 });
    expect(fewer.outcome).toEqual({ kind: 'exited', code: 0 });
    expect(fewer.stdout.text).toBe('..');
    expect(fewer.memoryExceeded).toBe(false);
    expect(fewer.peakMemoryBytes).toBeGreaterThan(60_000_000);
  });

  it('does not count pages that processes share once for each of them', async () => {
    // One block of 60 MB, then eight forks that only look at it.
    const source = `perl -e 'my $n = 60_000_000; my $x = "x" x $n; for (1 .. 8) { fork || do { sleep 30; exit } }
      syswrite STDOUT, "up"; select undef, undef, undef, 0.5; kill 9, 0'`;
    const result = await sh(source, {}, { memoryBytes: 200 << 20 });
    expect(result.stdout.text).toBe('up');
    expect(result.memoryExceeded).toBe(false);
  });

  it('tells the peak of a handler, also where no look saw it', async () => {
    // The looks come after 20, 60 and 140 ms: of eight handlers they miss some.
    for (let i = 0; i < 8; i++) {
      const result = await sh(`exec perl -e 'my $n = 20_000_000; my $x = "x" x $n'`);
      expect(result.peakMemoryBytes).toBeGreaterThan(20_000_000);
    }
  });

  it('passes on no ignored signal, no blocked one and no limit of jobq-dev', async () => {
    // Of the handler's own process: a shell that waits for another blocks signals meanwhile.
    const result = await sh('ulimit -c; ulimit -n; exec grep -E "SigIgn|SigBlk" /proc/self/status');
    expect(result.stdout.text).toBe(
      '0\n1024\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n',
    );
  });

  it('ends a kill while much output waits', async () => {
    const { sandbox, running } = await start('yes', '');
    await sandbox.kill();
    expect((await running).outcome.kind).toBe('lost');
  });

  it('watches the memory of a handler that never stops to write', async () => {
    const source = `(while :; do echo x; done) & exec perl -e '
      my @all; for (1 .. 100) { push @all, "x" x (4_000_000 + $_); select undef, undef, undef, 0.05 }'`;
    const result = await sh(source, {}, { memoryBytes: 100 << 20 });
    expect(result.memoryExceeded).toBe(true);
  });

  it('fails the run, and leaves nothing, when the listener to its output throws', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    const run = sh('sleep $MARK & echo go; wait', {
      env: { MARK: mark },
      onOutput: () => {
        throw new Error('of the listener');
      },
    });
    await expect(run).rejects.toThrow('of the listener');
    expect(marked(mark)).toEqual([]);
  });

  it('removes the workspace, whatever the handler made of it', async () => {
    const workspace = await withSandbox(async (sandbox) => {
      const result = await sandbox.run(
        shell(
          scratch,
          'mkdir -p a/b && echo x > a/b/f && chmod 500 a/b && chmod 0 a; ln -s / root; chmod 500 .; echo ok',
        ),
      );
      expect(result.stdout.text).toBe('ok\n');
      return sandbox.workspace;
    });
    expect(existsSync(workspace)).toBe(false);
    expect(existsSync('/usr')).toBe(true);
  });

  it('removes a workspace deeper than a path can be', async () => {
    const workspace = await withSandbox(async (sandbox) => {
      const deep = 'd'.repeat(200);
      const source = `i=0; while [ $i -lt 30 ]; do mkdir ${deep} && cd ${deep}; i=$((i+1)); done; echo ok`;
      expect((await sandbox.run(shell(scratch, source))).stdout.text).toBe('ok\n');
      return sandbox.workspace;
    });
    expect(existsSync(workspace)).toBe(false);
  });

  it('runs a program of the developer that the handler cannot find itself', async () => {
    const tools = join(scratch.root, 'tools');
    mkdirSync(tools);
    handler({ ...scratch, handlersDir: tools }, 'my-shell', '#!/bin/sh\nexec sh "$@"\n', 0o755);
    const path = process.env.PATH;
    process.env.PATH = `${path}:${tools}`;
    const result = await sh('echo found; my-shell', { interpreter: ['my-shell'] });
    process.env.PATH = path;
    expect(result.stdout.text).toBe('found\n');
    expect(result.outcome).toEqual({ kind: 'exited', code: 127 });
  });

  it('leaves no process, no directory and no journal entry after close', async () => {
    const own = makeScratch();
    const other = await createProcessProvider(optionsFor(own));
    const sandbox = await other.create(specFor(own));
    const socketDir = JSON.parse(
      readFileSync(join(own.root, 'journal', readdirSync(join(own.root, 'journal'))[0]!), 'utf8'),
    ).directories[0];
    expect(existsSync(socketDir)).toBe(true);
    await sandbox.run(shell(own, 'sleep 30 & echo x'));
    const before = wardens().length;
    await other.close();
    expect(wardens().length).toBe(before - 1);
    expect(readdirSync(join(own.root, 'work'))).toEqual([]);
    expect(readdirSync(join(own.root, 'journal'))).toEqual([]);
    expect(existsSync(socketDir)).toBe(false);
    removeScratch(own);
  });
});

const tried = makeScratch();
const first = await createProcessProvider(optionsFor(tried));
await first.close();
removeScratch(tried);

describe.skipIf(first.enforces.memory !== 'cgroup')('with cgroups', () => {
  let scratch: Scratch;
  let journal: string;
  let provider: ProcessProvider;
  beforeAll(async () => {
    scratch = makeScratch();
    journal = join(scratch.root, 'journal');
    provider = await createProcessProvider(optionsFor(scratch));
  });
  afterAll(async () => {
    await provider.close();
    removeScratch(scratch);
  });
  async function sh(source: string, memoryBytes = 96 << 20): Promise<RunResult> {
    const sandbox = await provider.create(specFor(scratch, { memoryBytes }));
    try {
      return await sandbox.run(shell(scratch, source));
    } finally {
      await sandbox.kill();
    }
  }
  const hog = `perl -e 'my $n = 200_000_000; my $x = "x" x $n'`;

  it('makes none when it is to watch', async () => {
    const own = makeScratch();
    const watching = await createProcessProvider({ ...optionsFor(own), memory: 'watch' });
    expect(watching.enforces.memory).toBe('watched');
    await watching.create(specFor(own));
    expect(cgroupsOf(join(own.root, 'journal'))).toEqual([]);
    await watching.close();
    removeScratch(own);
  });

  it('tells that the kernel killed, also when the handler then succeeds', async () => {
    const result = await sh(`${hog}; echo "$?"; exit 0`);
    // Never '0': a look at its counters may end the shell before it tells the status.
    expect(['', '137\n']).toContain(result.stdout.text);
    expect(result.memoryExceeded).toBe(true);
    expect(result.outcome).toEqual({ kind: 'signaled', signal: 'SIGKILL' });
    expect(result.peakMemoryBytes).toBeGreaterThanOrEqual(96 << 20);
    // No look came late: above the limit are only the pages of programs, which others hold too.
    expect(result.peakMemoryBytes).toBeLessThan(112 << 20);
    // And the next run begins anew.
    const next = await sh('kill -9 $$');
    expect(next.memoryExceeded).toBe(false);
    expect((await sh(hog, 900 << 20)).outcome).toEqual({ kind: 'exited', code: 0 });
  });

  it('keeps one for each prepared process, whatever a handler makes in it', async () => {
    await sh('echo warm');
    const prepared = await until('one', () => cgroupsOf(journal)[0]);
    const result = await sh(`
      name=$(sed -n 's|.*/\\(jobq-[^/]*\\)$|\\1|p' /proc/self/cgroup | head -n 1)
      inner="${dirname(prepared)}/$name/inner"
      mkdir "$inner" && (echo 0 > "$inner/cgroup.procs"; exec sleep 300) &
      until grep -q . "$inner/cgroup.procs"; do sleep 0.01; done 2> /dev/null
      basename "${dirname(prepared)}/$name"`);
    expect(result.outcome).toEqual({ kind: 'exited', code: 0 });
    const used = result.stdout.text.trim();
    await until('only another', () => {
      const here = cgroupsOf(journal);
      return here.length === 1 && !here[0]!.endsWith(used);
    });
  });

  it('leaves none of a monitor that was killed', async () => {
    expect((await sh('kill -9 $PPID; sleep 300')).outcome.kind).toBe('lost');
    expect(cgroupsOf(journal)).toEqual([]);
    expect((await sh('echo fine')).stdout.text).toBe('fine\n');
  });

  it('leaves none after close', async () => {
    const own = makeScratch();
    const other = await createProcessProvider(optionsFor(own));
    await Promise.all([1, 2, 3].map(() => other.create(specFor(own))));
    const [file] = readdirSync(join(own.root, 'journal'));
    const [base] = JSON.parse(readFileSync(join(own.root, 'journal', file!), 'utf8')).cgroups;
    await until('cgroups', () => cgroupsBelow(base).length === 3);
    await other.close();
    expect(cgroupsBelow(base)).toEqual([]);
    removeScratch(own);
  });
});

describe('the process provider without perl', () => {
  it('ends what left the process group, by its environment', async () => {
    const scratch = makeScratch();
    const provider = await createProcessProvider({ ...optionsFor(scratch), perl: false });
    expect(provider.enforces).toMatchObject({ memory: 'none', containment: 'process group' });
    const mark = marker();
    endMarkedAfterTest(mark);
    const sandbox = await provider.create(specFor(scratch));
    const source = `sleep $MARK & setsid sh -c 'touch out; exec sleep $MARK' &
      until [ -e out ]; do sleep 0.01; done; echo x`;
    const result = await sandbox.run(shell(scratch, source, { env: { MARK: mark } }));
    expect(result.stdout.text).toBe('x\n');
    expect(result.durationMs).toBeLessThan(5000);
    await until('both are gone', () => marked(mark).length === 0);
    await provider.close();
    removeScratch(scratch);
  });

  it('falls back to this where perl cannot run the warden, and says why', async () => {
    const scratch = makeScratch();
    const perl = join(scratch.root, 'perl');
    handler(
      { ...scratch, handlersDir: scratch.root },
      'perl',
      '#!/bin/sh\necho no >&2\nexit 1',
      0o755,
    );
    const provider = await createProcessProvider({ ...optionsFor(scratch), perl });
    expect(provider.info).toMatchObject({ mode: 'direct', reason: expect.stringContaining('no') });
    await provider.close();
    removeScratch(scratch);
  });
});
