/** Jobs of a kind in one sandbox, on a provider whose runs end as the test says. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '#src/job/outcome.js';
import type { RunResult, Sandbox, SandboxProvider, SandboxSpec } from '#src/sandbox/port.js';
import { sharing } from '#src/sandbox/shared.js';
import { exited } from '../support/fake-provider.js';
import { specFor } from './helpers.js';

const SPEC = specFor({ root: '/', handlersDir: '/handlers', outputDir: '/out' });
const COMMAND = { interpreter: ['sh'], script: 'x', args: [], env: {} };

/** Counts what becomes of its sandboxes. */
class Counting implements SandboxProvider {
  readonly name = 'qemu';
  readonly description = 'counting';
  readonly enforces = {
    isolation: 'microvm',
    memory: 'machine',
    network: 'none',
    containment: 'machine',
    separateStderr: true,
  } as const;
  made = 0;
  killed = 0;
  renewed: string[] = [];
  outcome: Outcome = { kind: 'exited', code: 0 };
  failRenew = false;
  closed = false;

  async create(): Promise<Sandbox> {
    this.made += 1;
    return {
      workspace: '/workspace',
      outputDir: '/output',
      write: async () => {},
      run: async (): Promise<RunResult> => ({ ...exited(0), outcome: this.outcome }),
      renew: async (spec) => {
        if (this.failRenew) throw new Error('cannot be cleaned');
        this.renewed.push(spec.outputDir);
      },
      kill: async () => {
        this.killed += 1;
      },
    };
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

describe('three jobs a sandbox', () => {
  let inner: Counting;
  let provider: SandboxProvider;
  beforeEach(() => {
    inner = new Counting();
    provider = sharing(inner, 3);
  });

  async function job(kind: string, outputDir = '/out'): Promise<Outcome> {
    const spec: SandboxSpec = { ...SPEC, kind, outputDir };
    const sandbox = await provider.create(spec);
    const { outcome } = await sandbox.run({ ...COMMAND, timeoutMs: 1_000, outputLimitBytes: 10 });
    await sandbox.kill();
    await sandbox.kill();
    return outcome;
  }

  it('takes three of a kind, each with its own output directory, then makes another', async () => {
    for (const n of [1, 2, 3, 4]) await job('a', `/out/${n}`);
    expect(inner).toMatchObject({ made: 2, killed: 1, renewed: ['/out/2', '/out/3'] });
  });

  it('keeps kinds apart', async () => {
    for (const kind of ['a', 'b', 'a', 'b']) await job(kind);
    expect(inner).toMatchObject({ made: 2, killed: 0 });
  });

  it('goes on after a failure', async () => {
    inner.outcome = { kind: 'exited', code: 1 };
    for (let n = 0; n < 3; n += 1) await job('a');
    expect(inner).toMatchObject({ made: 1, killed: 1 });
  });

  it.each<Outcome>([
    { kind: 'timeout', afterMs: 1 },
    { kind: 'lost', reason: 'gone' },
    { kind: 'signaled', signal: 'SIGKILL' },
  ])('uses none again in which a job ended by $kind', async (outcome) => {
    inner.outcome = outcome;
    expect(await job('a')).toEqual(outcome);
    await job('a');
    expect(inner).toMatchObject({ made: 2, killed: 2 });
  });

  it('never gives one to two jobs at once', async () => {
    const spec = { ...SPEC, kind: 'a' };
    await Promise.all([provider.create(spec), provider.create(spec)]);
    expect(inner.made).toBe(2);
  });

  it('makes another where one cannot be renewed', async () => {
    await job('a');
    inner.failRenew = true;
    await job('a');
    expect(inner).toMatchObject({ made: 2, killed: 1 });
  });

  it('destroys one that was killed before it ran', async () => {
    const sandbox = await provider.create({ ...SPEC, kind: 'a' });
    await sandbox.kill();
    expect(inner.killed).toBe(1);
  });

  it('ends with its provider', async () => {
    await job('a');
    await provider.close();
    expect(inner.closed).toBe(true);
  });
});

it('is the provider itself with one job a sandbox', () => {
  const inner = new Counting();
  expect(sharing(inner, 1)).toBe(inner);
});
