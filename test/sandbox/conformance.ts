/**
 * The suite that every sandbox provider must pass: docs of the port, and inputs that broke other
 * systems. A provider's test file calls `sandboxConformance` and adds what only it can show.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  Command,
  RunResult,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
} from '#src/sandbox/port.js';
import {
  handler,
  makeScratch,
  removeScratch,
  type Scratch,
  shell,
  specFor,
  until,
} from './helpers.js';

/** Makes the provider under test. Its own files belong below `scratch.root`. */
export type MakeProvider = (scratch: Scratch) => Promise<SandboxProvider>;

export function sandboxConformance(name: string, makeProvider: MakeProvider): void {
  describe(`${name}: sandbox conformance`, () => {
    let scratch: Scratch;
    let provider: SandboxProvider;
    beforeAll(async () => {
      scratch = makeScratch();
      provider = await makeProvider(scratch);
    });
    afterAll(async () => {
      await provider?.close();
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
    /** Runs shell source in a sandbox of its own. */
    const sh = (source: string, more: Partial<Command> = {}): Promise<RunResult> =>
      withSandbox((sandbox) => sandbox.run(shell(scratch, source, more)));

    it('runs a script in the workspace with its payload, its arguments and no input', async () => {
      await withSandbox(async (sandbox) => {
        const payload = '{"id": 1970670598291982290, "text": "é😀"}';
        await sandbox.write('payload.json', payload);
        const result = await sandbox.run(
          shell(scratch, 'cat "$1"; echo; pwd; cat; echo "[$2]"', {
            args: [`${sandbox.workspace}/payload.json`, 'a b  "c" $HOME *'],
          }),
        );
        expect(result.outcome).toEqual({ kind: 'exited', code: 0 });
        expect(result.stdout.text).toBe(`${payload}\n${sandbox.workspace}\n[a b  "c" $HOME *]\n`);
        expect(result.stderr).toEqual({ text: '', totalBytes: 0, truncated: false });
        expect(result.memoryExceeded).toBe(false);
        expect(result.durationMs).toBeGreaterThan(0);
      });
    });

    it('gives the handler its own environment and nothing else', async () => {
      process.env.JOBQ_TEST_SECRET = 'of the developer';
      const env = { JOBQ_JOB_ID: '7', EMPTY: '', ODD: 'a=b\nc "d" é' };
      const { stdout } = await sh(`tr '\\0' '\\1' < /proc/$$/environ`, { env });
      delete process.env.JOBQ_TEST_SECRET;
      const entries = stdout.text.split('\x01').filter((entry) => entry !== '');
      const seen = Object.fromEntries(
        entries.map((entry) => [entry.split('=')[0]!, entry.slice(entry.indexOf('=') + 1)]),
      );
      const allowed = seen.JOBQ_ATTEMPT_TOKEN ? { JOBQ_ATTEMPT_TOKEN: expect.any(String) } : {};
      // bubblewrap always sets PWD, to where the handler is.
      if (provider.enforces.isolation === 'namespaces') delete seen.PWD;
      expect(seen).toEqual({
        ...env,
        ...allowed,
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: expect.any(String),
        LANG: 'C.UTF-8',
      });
      const direct = provider.enforces.containment === 'process group';
      expect('JOBQ_ATTEMPT_TOKEN' in seen).toBe(direct);
    });

    it('tells a failure by its exit status and never throws for it', async () => {
      expect((await sh('exit 7')).outcome).toEqual({ kind: 'exited', code: 7 });
      expect((await sh('exit 255')).outcome).toEqual({ kind: 'exited', code: 255 });
    });

    it('tells a death by signal as a signal, not as success', async () => {
      expect((await sh('kill -9 $$')).outcome).toEqual({ kind: 'signaled', signal: 'SIGKILL' });
      expect((await sh('kill -TERM $$')).outcome).toEqual({ kind: 'signaled', signal: 'SIGTERM' });
      // Its number has another name too.
      expect((await sh('kill -ABRT $$')).outcome).toEqual({ kind: 'signaled', signal: 'SIGABRT' });
    });

    it('keeps stdout and stderr apart, also through /dev/stderr', async () => {
      if (!provider.enforces.separateStderr) return;
      const direct = provider.enforces.containment === 'process group';
      const result = await sh(`echo out; echo err >&2${direct ? '' : '; echo more > /dev/stderr'}`);
      expect(result.stdout.text).toBe('out\n');
      expect(result.stderr.text).toBe(direct ? 'err\n' : 'err\nmore\n');
    });

    it('delivers 1 MiB that was written just before the exit', async () => {
      const { stdout, outcome } = await sh('head -c 1048576 /dev/zero | tr "\\0" x; exit 3');
      expect(outcome).toEqual({ kind: 'exited', code: 3 });
      expect(stdout.totalBytes).toBe(1_048_576);
      expect(stdout.truncated).toBe(false);
      expect(stdout.text).toBe('x'.repeat(1_048_576));
    });

    it('keeps the tail of a long output and counts the rest', async () => {
      // 3-byte characters and a limit that falls inside one.
      const { stdout } = await sh('yes €€€€ | head -n 20000; echo end', { outputLimitBytes: 1000 });
      expect(stdout.totalBytes).toBe(20_000 * 13 + 4);
      expect(stdout.truncated).toBe(true);
      expect(stdout.text.endsWith('€€€€\nend\n')).toBe(true);
      expect(stdout.text).not.toContain('\uFFFD');
      const bytes = Buffer.byteLength(stdout.text);
      expect(bytes).toBeLessThanOrEqual(1000);
      expect(bytes).toBeGreaterThan(996);
    });

    it('streams text as it arrives, without splitting a character', async () => {
      const pieces: string[] = [];
      const result = await sh(
        // Each half of the character is a write of its own, with time between them.
        `printf 'a\\303'; sleep 0.5; printf '\\251b\\360\\237'; sleep 0.5; printf '\\230\\200'`,
        { onOutput: (stream, text) => pieces.push(`${stream}:${text}`) },
      );
      expect(pieces.join('')).not.toContain('\uFFFD');
      expect(pieces.map((piece) => piece.replace('stdout:', '')).join('')).toBe('aéb😀');
      expect(result.stdout.text).toBe('aéb😀');
      expect(pieces.length).toBeGreaterThan(1);
    });

    it('survives NUL, invalid UTF-8 and surrogates in the output', async () => {
      const { stdout } = await sh(`printf 'a\\000b\\377c\\355\\240\\200d\\303'`);
      expect(stdout.text).toBe('a\0b\uFFFDc\uFFFD\uFFFD\uFFFDd\uFFFD');
      expect(stdout.totalBytes).toBe(10);
    });

    it.each([0, 18_000, 1_000_000, 33_000_000])('writes a file of %i bytes', async (size) => {
      await withSandbox(async (sandbox) => {
        await sandbox.write('in/some/folder/file', Buffer.alloc(size, 'z'));
        const result = await sandbox.run(shell(scratch, 'wc -c < in/some/folder/file'));
        expect(result.stdout.text.trim()).toBe(String(size));
      });
    });

    it.each(['../x', '/etc/x', 'a/../../x', '', '.', 'a//b', 'a/./b', 'x/', 'a\0b'])(
      'refuses to write to %j, which is not inside the workspace',
      async (path) => {
        await withSandbox(async (sandbox) => {
          await expect(sandbox.write(path, 'x')).rejects.toMatchObject({
            name: 'JobqError',
            code: 'input',
          });
        });
      },
    );

    it('never writes through a link that an earlier job left', async () => {
      const victim = join(scratch.outputDir, 'victim');
      await withSandbox(async (sandbox) => {
        const links = await sandbox.run(
          shell(
            scratch,
            `echo untouched > "$1/victim"
             ln -s "$1/victim" soft; ln "$1/victim" hard 2>/dev/null; ln -s "$1" folder; echo ok`,
            { args: [sandbox.outputDir] },
          ),
        );
        expect(links.stdout.text).toBe('ok\n');
        await sandbox.write('soft', 'new');
        await sandbox.write('hard', 'new');
        await expect(sandbox.write('folder/victim', 'new')).rejects.toMatchObject({
          code: 'input',
        });
        const read = await sandbox.run(
          shell(scratch, 'cat soft hard "$1/victim"', { args: [sandbox.outputDir] }),
        );
        expect(read.stdout.text).toBe('newnewuntouched\n');
      });
      expect(readFileSync(victim, 'utf8')).toBe('untouched\n');
      rmSync(victim);
    });

    it('replaces a file that is written again', async () => {
      await withSandbox(async (sandbox) => {
        await sandbox.write('payload.json', 'a long first text');
        await sandbox.write('payload.json', 'second');
        const result = await sandbox.run(shell(scratch, 'cat payload.json'));
        expect(result.stdout.text).toBe('second');
      });
    });

    it('keeps the output directory, whatever happens to the sandbox', async () => {
      const file = join(scratch.outputDir, 'kept');
      await withSandbox(async (sandbox) => {
        const env = { JOBQ_OUTPUT_DIR: sandbox.outputDir };
        const source = 'echo 1 >> "$JOBQ_OUTPUT_DIR/kept"; exit 1';
        await sandbox.run(shell(scratch, source, { env }));
      });
      expect(readFileSync(file, 'utf8')).toBe('1\n'); // and it ran once
      rmSync(file);
    });

    it('runs several commands in one sandbox, one after the other', async () => {
      await withSandbox(async (sandbox) => {
        expect((await sandbox.run(shell(scratch, 'echo 1 > kept'))).outcome.kind).toBe('exited');
        const second = await sandbox.run(shell(scratch, 'cat kept; exit 2'));
        expect(second.stdout.text).toBe('1\n');
        expect(second.outcome).toEqual({ kind: 'exited', code: 2 });
      });
    });

    it('is ready for another job when it is renewed, where it can be', async () => {
      const outputs = [1, 2].map((n) => join(scratch.root, `output-${n}`));
      for (const folder of outputs) mkdirSync(folder);
      writeFileSync(join(outputs[1]!, 'mine'), 'of the second');
      const [first, second] = outputs.map((outputDir) => specFor(scratch, { outputDir }));
      const sandbox = await provider.create(first!);
      try {
        if (sandbox.renew === undefined) return;
        const args = [sandbox.outputDir];
        const source = 'echo x > left; mkdir "$1/d"; echo one > "$1/d/kept"; sleep 60 &';
        await sandbox.run(shell(scratch, source, { args }));
        await sandbox.renew(second!);
        await sandbox.write('payload.json', '{}');
        const result = await sandbox.run(
          shell(scratch, 'ls; cat "$1"/*; echo two > "$1/new"', { args }),
        );
        expect(result.stdout.text).toBe('payload.json\nof the second');
        expect(readdirSync(outputs[0]!)).toEqual(['d']);
        expect(readdirSync(outputs[1]!).sort()).toEqual(['mine', 'new']);
      } finally {
        await sandbox.kill();
      }
    });

    it('keeps concurrent sandboxes apart', async () => {
      const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
      const texts = await Promise.all(
        numbers.map((n) =>
          withSandbox(async (sandbox) => {
            await sandbox.write('payload.json', `${n}`);
            const script = 'cat payload.json payload.json; ls';
            return (await sandbox.run(shell(scratch, script))).stdout.text;
          }),
        ),
      );
      expect(texts).toEqual(numbers.map((n) => `${n}${n}payload.json\n`));
    });

    it('ends a command at its timeout, within a second', async () => {
      const result = await sh('echo started; sleep 30', { timeoutMs: 1000 });
      expect(result.outcome).toEqual({ kind: 'timeout', afterMs: 1000 });
      expect(result.stdout.text).toBe('started\n');
      expect(result.durationMs).toBeGreaterThanOrEqual(999);
      expect(result.durationMs).toBeLessThan(2000);
    });

    it('takes the sandbox with a timeout', async () => {
      await withSandbox(async (sandbox) => {
        const first = await sandbox.run(shell(scratch, 'sleep 30', { timeoutMs: 50 }));
        expect(first.outcome).toEqual({ kind: 'timeout', afterMs: 50 });
        const file = join(scratch.outputDir, 'second');
        const args = [sandbox.outputDir];
        const second = await until('the sandbox is destroyed', async () => {
          const result = await sandbox.run(shell(scratch, 'echo x', { args }));
          return result.outcome.kind === 'lost' ? result : undefined;
        });
        expect(second.stdout.text).toBe('');
        expect(existsSync(file)).toBe(false);
      });
    });

    it('stops every later write of a job that timed out', async () => {
      const file = join(scratch.outputDir, 'ticks');
      const result = await withSandbox((sandbox) =>
        sandbox.run(
          shell(
            scratch,
            `tick() { while :; do echo tick >> "$1/ticks"; sleep 0.02; done; }
             tick "$1" & echo $1; sleep 300 & wait`,
            { args: [sandbox.outputDir], timeoutMs: 300 },
          ),
        ),
      );
      expect(result.outcome.kind).toBe('timeout');
      if (!existsSync(file)) return; // in a VM that was destroyed before its files came out
      const size = readFileSync(file).length;
      expect(size).toBeGreaterThan(0);
      // That nothing comes can only be seen by looking for a while: fifteen of its intervals.
      const grew = until('growth', () => readFileSync(file).length > size, 300);
      await expect(grew).rejects.toThrow('not within');
    });

    it('does not wait for a grandchild that holds the output open', async () => {
      const result = await sh('sleep 30 & echo done');
      expect(result.outcome).toEqual({ kind: 'exited', code: 0 });
      expect(result.stdout.text).toBe('done\n');
      expect(result.durationMs).toBeLessThan(5000);
    });

    it('takes a timeout that no timer can hold', async () => {
      const result = await sh('sleep 0.2; echo late', { timeoutMs: 2 ** 31 + 5 });
      expect(result.outcome).toEqual({ kind: 'exited', code: 0 });
      expect(result.stdout.text).toBe('late\n');
    });

    it('tells why a program cannot be started, as a failed attempt', async () => {
      const missing = await sh('', { interpreter: ['no-such-program'] });
      expect(missing.outcome).toEqual({ kind: 'exited', code: 127 });
      expect(missing.stderr.text).toContain('no-such-program: not found');
      expect(missing.stderr.text).toContain('interpreters');

      handler(scratch, 'plain', '#!/bin/sh\necho ran\n', 0o644);
      const plain = await sh('', { interpreter: [], script: 'plain' });
      expect(plain.outcome).toEqual({ kind: 'exited', code: 126 });
      expect(plain.stderr.text).toContain('not executable');

      handler(scratch, 'broken', '#!/no/such/interpreter\n', 0o755);
      const broken = await sh('', { interpreter: [], script: 'broken' });
      expect(broken.outcome).toEqual({ kind: 'exited', code: 127 });
      expect(broken.stderr.text).toContain('#!');
    });

    it('runs an executable with a shebang, and a program beside the handlers', async () => {
      handler(scratch, 'tool', '#!/bin/sh\necho "tool $1"\n', 0o755);
      const bare = await sh('', { interpreter: [], script: 'tool', args: ['x'] });
      expect(bare.stdout.text).toBe('tool x\n');

      handler(scratch, '.venv/bin/python3', '#!/bin/sh\necho "venv $1 ${2##*/}"\n', 0o755);
      const venv = await sh('', { interpreter: ['.venv/bin/python3', '-u'] });
      expect(venv.stdout.text).toMatch(/^venv -u shell-\d+\.sh\n$/);
    });

    it('ends a command by kill, once, however often it is asked', async () => {
      const sandbox = await provider.create(specFor(scratch));
      let started = (): void => {};
      const start = new Promise<void>((resolve) => {
        started = resolve;
      });
      const running = sandbox.run(shell(scratch, 'echo go; sleep 30', { onOutput: started }));
      await start;
      await Promise.all([sandbox.kill(), sandbox.kill()]);
      expect((await running).outcome.kind).toBe('lost');
      await sandbox.kill();
      expect((await sandbox.run(shell(scratch, 'echo x'))).outcome.kind).toBe('lost');
      await expect(sandbox.write('x', 'x')).rejects.toMatchObject({ code: 'sandbox-unavailable' });
    });

    it('may be killed before anything ran', async () => {
      const sandbox = await provider.create(specFor(scratch));
      await sandbox.kill();
      expect((await sandbox.run(shell(scratch, 'echo x'))).outcome.kind).toBe('lost');
    });

    it('destroys a sandbox at its time to live', async () => {
      const result = await withSandbox((sandbox) => sandbox.run(shell(scratch, 'sleep 30')), {
        ttlMs: 200,
      });
      expect(result.outcome).toEqual({
        kind: 'lost',
        reason: expect.stringContaining('time to live'),
      });
    });

    it('ends a job that takes more memory than it may, and says so', async () => {
      if (provider.enforces.memory === 'none') return;
      const hog = handler(
        scratch,
        'hog.pl',
        'my @all; for (1 .. 40) { push @all, "x" x 10_000_000; select undef, undef, undef, 0.02 } print "all\\n";',
      );
      const result = await withSandbox(
        (sandbox) => sandbox.run(shell(scratch, '', { interpreter: ['perl'], script: hog })),
        { memoryBytes: 96 << 20 },
      );
      expect(result.stdout.text).toBe('');
      expect(result.memoryExceeded).toBe(true);
      expect(result.outcome.kind).toBe('signaled');
    });

    it('ends all of a job of which one process takes too much, whoever goes on', async () => {
      if (provider.enforces.memory === 'none') return;
      // At once, and gone before a look may see it; its parent does not mind.
      const source = `perl -e 'my $n = 300_000_000; my $x = "x" x $n; sleep 30'; sleep 30; exit 0`;
      const result = await withSandbox((sandbox) => sandbox.run(shell(scratch, source)), {
        memoryBytes: 96 << 20,
      });
      expect(result.memoryExceeded).toBe(true);
      expect(result.outcome).toEqual({ kind: 'signaled', signal: 'SIGKILL' });
      expect(result.durationMs).toBeLessThan(10_000);
    });

    it('lets a job write more than its memory holds', async () => {
      const source = `head -c 600000000 /dev/zero > "$1/big"; wc -c < "$1/big"; cat "$1/big" | wc -c; rm "$1/big"`;
      const result = await withSandbox(
        (sandbox) => sandbox.run(shell(scratch, source, { args: [sandbox.outputDir] })),
        { memoryBytes: 128 << 20 },
      );
      expect(result.stdout.text).toBe('600000000\n600000000\n');
      expect(result.memoryExceeded).toBe(false);
    });

    it('says what it enforces', () => {
      const { isolation } = provider.enforces;
      expect(provider.description).not.toBe('');
      if (isolation === 'none') expect(provider.description).toContain('no isolation');
      if (provider.name === 'process') expect(isolation).not.toBe('microvm');
    });

    it('kills what runs when it is closed, and makes no more', async () => {
      const other = await makeProvider(scratch);
      const sandbox = await other.create(specFor(scratch));
      let started = (): void => {};
      const start = new Promise<void>((resolve) => {
        started = resolve;
      });
      const running = sandbox.run(shell(scratch, 'echo go; sleep 30', { onOutput: started }));
      await start;
      await Promise.all([other.close(), other.close()]);
      expect((await running).outcome.kind).toBe('lost');
      await expect(other.create(specFor(scratch))).rejects.toMatchObject({
        code: 'sandbox-unavailable',
      });
      await other.close();
    });
  });
}
