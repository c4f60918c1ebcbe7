/** The provider against a service that works, one that misbehaves, and the real one where there is a key. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPandastackProvider } from '#src/sandbox/pandastack/index.js';
import type { RunResult, SandboxProvider } from '#src/sandbox/port.js';
import { probeBubblewrap } from '#src/sandbox/process/bubblewrap.js';
import { sandboxConformance } from '../conformance.js';
import { makeScratch, removeScratch, type Scratch, shell, specFor, until } from '../helpers.js';
import { FakeService, type Seen } from './fake-service.js';

const missing = await probeBubblewrap({ network: 'host' });
if (missing !== undefined && process.env.TEST_REQUIRE_BWRAP === '1') {
  throw new Error(`TEST_REQUIRE_BWRAP=1, but bubblewrap does not work: ${missing}`);
}
const TIMES = { firstMs: 10, mostMs: 100, absentMs: 500, silentMs: 10_000, firstRetryMs: 5 };

const providerFor = (scratch: Scratch, url: string, key: string | undefined) =>
  createPandastackProvider({
    journalDir: join(scratch.root, 'journal'),
    url,
    key,
    template: 'code-interpreter',
    times: TIMES,
  });

describe.skipIf(missing !== undefined)(`a service${missing ? ` (${missing})` : ''}`, () => {
  let service: FakeService;
  let folder: Scratch;
  beforeAll(async () => {
    folder = makeScratch();
    service = await FakeService.start(join(folder.root, 'service'));
  });
  afterAll(async () => {
    await service.close();
    removeScratch(folder);
  });
  sandboxConformance('pandastack', (scratch) => providerFor(scratch, service.url, service.key));

  it('has no sandbox left, and the journal names none', () => {
    expect(service.sandboxes).toEqual([]);
  });
});

describe.skipIf(missing !== undefined)('a service that misbehaves', () => {
  let scratch: Scratch;
  let service: FakeService;
  let provider: SandboxProvider;
  beforeEach(async () => {
    scratch = makeScratch();
    service = await FakeService.start(join(scratch.root, 'service'));
    provider = await providerFor(scratch, service.url, service.key);
  });
  afterEach(async () => {
    await provider.close();
    await service.close();
    removeScratch(scratch);
  });
  const journal = () => join(scratch.root, 'journal');

  async function ran(source: string, timeoutMs = 20_000): Promise<RunResult> {
    const sandbox = await provider.create(specFor(scratch));
    try {
      const args = [sandbox.outputDir];
      return await sandbox.run(shell(scratch, source, { args, timeoutMs }));
    } finally {
      await sandbox.kill();
    }
  }
  const isStart = ({ body }: Seen) => body.includes('setsid');
  /** Misbehaves the first `times` times that `which` says so. */
  const first = (times: number, which: (seen: Seen) => boolean) => {
    let left = times;
    return (seen: Seen) => which(seen) && left-- > 0;
  };
  const COUNTED = 'echo once >> "$1/runs"; cat "$1/runs"';

  it.each([
    ['500 after it ran the command', { status: 500 }],
    ['a dropped connection', 'drop'],
    ['"i/o timeout" in the answer', { text: 'dial tcp: i/o timeout' }],
    ['a page of HTML', { text: '<html>502</html>' }],
    ['JSON of something else', { text: '{"ok":true}' }],
  ] as const)('runs the command once when the answer to it is %s', async (_name, fault) => {
    service.misbehave = (seen) => (isStart(seen) ? fault : undefined);
    const { outcome, stdout } = await ran(COUNTED);
    expect(outcome).toEqual({ kind: 'exited', code: 0 });
    expect(stdout.text).toBe('once\n');
    expect(service.lines(/setsid/)).toHaveLength(1);
  });

  it('brings all of the output when what reads it in the sandbox is held up', async () => {
    const { outcome, stdout } = await ran(
      `readers=$(pgrep -P $PPID -x cat | tr '\\n' ' ')
       kill -STOP $readers
       echo said
       setsid sh -c "touch away; sleep 1; kill -CONT $readers" >/dev/null 2>&1 &
       while [ ! -e away ]; do sleep 0.1; done`,
    );
    expect(outcome).toEqual({ kind: 'exited', code: 0 });
    expect(stdout.text).toBe('said\n');
  });

  it('does not send a command again that never arrived', async () => {
    service.misbehave = (seen) => (isStart(seen) ? { notDone: 503 } : undefined);
    const { outcome } = await ran(COUNTED);
    expect(outcome).toEqual({ kind: 'lost', reason: expect.stringContaining('did not start') });
    expect(service.lines(/setsid/)).toHaveLength(1);
    expect(readdirSync(scratch.outputDir)).toEqual([]);
  });

  it('waits through refusals and dropped connections while it makes a sandbox', async () => {
    const isCreate = first(3, ({ method, path }) => method === 'POST' && path === '/v1/sandboxes');
    const faults = [{ notDone: 429 }, { notDone: 503 }, 'drop'] as const;
    let count = 0;
    service.misbehave = (seen) => (isCreate(seen) ? faults[count++] : undefined);
    expect((await ran('echo x')).stdout.text).toBe('x\n');
  });

  it('says so when none can be had', async () => {
    service.misbehave = ({ path }) => (path === '/v1/sandboxes' ? { notDone: 429 } : undefined);
    await expect(provider.create(specFor(scratch))).rejects.toMatchObject({
      code: 'sandbox-unavailable',
      message: expect.stringContaining('429'),
    });
  });

  it('names the key when it is refused', async () => {
    const other = await providerFor(scratch, service.url, 'wrong');
    await expect(other.create(specFor(scratch))).rejects.toMatchObject({
      code: 'sandbox-unavailable',
      hint: expect.stringContaining('PANDASTACK_API_KEY'),
    });
    await other.close();
  });

  it('goes on when looks fail for a while', async () => {
    const isLook = first(6, ({ body }) => body.includes('absent'));
    let odd = false;
    service.misbehave = (seen) => {
      if (!isLook(seen)) return undefined;
      odd = !odd;
      return odd ? 'drop' : { status: 502 };
    };
    const { outcome, stdout } = await ran('echo a; sleep 0.2; echo b');
    expect(outcome).toEqual({ kind: 'exited', code: 0 });
    expect(stdout).toEqual({ text: 'a\nb\n', totalBytes: 4, truncated: false });
  });

  it('is told when the service takes the sandbox away', async () => {
    const sandbox = await provider.create(specFor(scratch));
    const onOutput = () => service.reap(service.sandboxes[0]!);
    const result = await sandbox.run(shell(scratch, 'echo go; sleep 60', { onOutput }));
    expect(result.outcome).toEqual({ kind: 'lost', reason: 'the sandbox went away' });
    await sandbox.kill();
  });

  it('decides the timeout itself, whatever the service allows a request', async () => {
    const { outcome, durationMs } = await ran('sleep 60', 700);
    expect(outcome).toEqual({ kind: 'timeout', afterMs: 700 });
    expect(durationMs).toBeLessThan(2_000);
    await until('the sandbox is gone', () => service.sandboxes.length === 0);
  });

  it('keeps looking, so that it is never idle', async () => {
    await ran('sleep 1');
    // Every 100 ms at the latest here; in use every second, against two minutes of idleness.
    expect(service.lines(/absent/).length).toBeGreaterThan(2);
  });

  it('ends at the next start what a crash has left', async () => {
    await provider.create(specFor(scratch));
    expect(service.sandboxes).toHaveLength(1);
    const [file] = readdirSync(journal());
    const entry = { owner: { pid: 1, start: 'of another boot' }, url: service.url };
    const sandboxes = service.sandboxes;
    writeFileSync(join(journal(), 'pandastack-old.json'), JSON.stringify({ ...entry, sandboxes }));
    const next = await providerFor(scratch, service.url, service.key);
    expect(service.sandboxes).toEqual([]);
    expect(readdirSync(journal())).toContain(file);
    expect(readdirSync(journal())).not.toContain('pandastack-old.json');
    await next.close();
  });
});

describe('without a key', () => {
  it('cannot be had, and says what to set', async () => {
    const scratch = makeScratch();
    await expect(providerFor(scratch, '', undefined)).rejects.toMatchObject({
      code: 'sandbox-unavailable',
      hint: expect.stringContaining('PANDASTACK_API_KEY'),
    });
    removeScratch(scratch);
  });
});

const key = process.env.PANDASTACK_API_KEY;
describe.skipIf(!key)(`the real service${key ? '' : ' (PANDASTACK_API_KEY is not set)'}`, () => {
  it('runs a handler and gives its output', { timeout: 120_000 }, async () => {
    const scratch = makeScratch();
    const provider = await providerFor(scratch, process.env.PANDASTACK_API ?? '', key);
    const sandbox = await provider.create(specFor(scratch));
    const result = await sandbox.run(
      shell(scratch, 'echo out; echo kept > "$1/file"; exit 3', { args: [sandbox.outputDir] }),
    );
    await provider.close();
    expect(result.outcome).toEqual({ kind: 'exited', code: 3 });
    expect(result.stdout.text).toBe('out\n');
    expect(readdirSync(scratch.outputDir)).toEqual(['file']);
    removeScratch(scratch);
  });
});
