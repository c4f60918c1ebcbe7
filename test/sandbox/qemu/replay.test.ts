/** The same burst comes to the same end as child processes and in microVMs. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { jobq, scratch } from '../../support/cli.js';
import { describeMachines, withWhy } from './machines.js';

const FIXTURES = fileURLToPath(new URL('../../../fixtures/', import.meta.url));
/** In sh, python and node; one retries, one has no handler and dies. */
const KINDS = ['star', 'repository', 'push', 'issues', 'marketplace_purchase'];

/** The first job of each of these kinds, in the order in which they arrived. */
function slice(): string {
  const wanted = new Set(KINDS);
  const lines = readFileSync(join(FIXTURES, 'github-webhooks.jsonl'), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && wanted.delete((JSON.parse(line) as { kind: string }).kind))
    .join('\n');
}

/** What depends on how fast the machine is. */
function withoutTimes(report: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(report), (key, value) =>
    ['sandbox_ms', 'wall_ms'].includes(key) ? undefined : value,
  );
}

describeMachines(withWhy('a replay'), () => {
  it('reports the same under process and qemu', { timeout: 300_000 }, async () => {
    const cwd = scratch();
    cpSync(join(FIXTURES, 'handlers'), join(cwd, 'handlers'), { recursive: true });
    writeFileSync(join(cwd, 'slice.jsonl'), slice());
    const built = await jobq(['sandbox', 'build', '--json'], { cwd });
    expect(built.status).toBe(0);
    expect(JSON.parse(built.stdout)).toMatchObject({ restore_ms: expect.any(Number), missing: [] });

    const replayed = async (sandbox: string) => {
      const args = ['replay', 'slice.jsonl', '--seed', 'a', '--json', '--concurrency', '2'];
      const { stdout } = await jobq(
        [...args, '--sandbox', sandbox, '--output-dir', `out-${sandbox}`],
        { cwd },
      );
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const [inProcess, inMachine] = [await replayed('process'), await replayed('qemu')];
    expect(inProcess).toMatchObject({ jobs: 5, dead: 1 });
    expect(withoutTimes(inMachine)).toEqual(withoutTimes(inProcess));
  });
});
