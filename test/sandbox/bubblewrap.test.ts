/**
 * The process provider with namespaces. Needs bubblewrap and a kernel that allows namespaces; where
 * they are missing the tests are skipped, unless TEST_REQUIRE_BWRAP=1 says that they must run.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunResult } from '#src/sandbox/port.js';
import { probeBubblewrap } from '#src/sandbox/process/bubblewrap.js';
import { createProcessProvider, type ProcessProvider } from '#src/sandbox/process/index.js';
import { sandboxConformance } from './conformance.js';
import {
  endMarkedAfterTest,
  makeScratch,
  marked,
  marker,
  removeScratch,
  type Scratch,
  shell,
  specFor,
} from './helpers.js';

const missing = await probeBubblewrap({ network: 'host' });
if (missing !== undefined && process.env.TEST_REQUIRE_BWRAP === '1') {
  throw new Error(`TEST_REQUIRE_BWRAP=1, but bubblewrap does not work: ${missing}`);
}
const optionsFor = (scratch: Scratch) => ({
  workDir: join(scratch.root, 'work'),
  journalDir: join(scratch.root, 'journal'),
});

describe.skipIf(missing !== undefined)(`with bubblewrap${missing ? ` (${missing})` : ''}`, () => {
  sandboxConformance('process in namespaces', (scratch) =>
    createProcessProvider({ ...optionsFor(scratch), namespaces: 'require' }),
  );

  describe('namespaces', () => {
    let scratch: Scratch;
    let provider: ProcessProvider;
    beforeAll(async () => {
      scratch = makeScratch();
      provider = await createProcessProvider({
        ...optionsFor(scratch),
        namespaces: 'auto',
        network: 'none',
      });
    });
    afterAll(async () => {
      await provider.close();
      removeScratch(scratch);
    });
    async function sh(source: string, env: Record<string, string> = {}): Promise<RunResult> {
      const sandbox = await provider.create(specFor(scratch));
      try {
        const args = [sandbox.outputDir];
        return await sandbox.run(shell(scratch, source, { args, env }));
      } finally {
        await sandbox.kill();
      }
    }

    it('says that they isolate, since a probe worked', () => {
      expect(provider.enforces).toMatchObject({ isolation: 'namespaces', network: 'none' });
      expect(provider.info.bubblewrap).toBe('working');
    });

    it('hides other processes and the network, and makes the system read-only', async () => {
      const result = await sh(`
        ls -d /proc/[0-9]* | wc -l
        tail -n +3 /proc/net/dev | grep -vc ' lo:'
        touch /usr/x 2>/dev/null || echo usr
        touch /etc/x 2>/dev/null || echo etc
        touch "$0.x" 2>/dev/null || echo handlers
        touch /tmp/x && touch here && touch "$1/there" && echo writable`);
      const [count, interfaces, ...rest] = result.stdout.text.trim().split('\n');
      expect(Number(count)).toBeLessThan(8);
      expect(interfaces).toBe('0');
      expect(rest).toEqual(['usr', 'etc', 'handlers', 'writable']);
    });

    it('hides the files of the developer and of other jobs', async () => {
      writeFileSync(join(scratch.root, 'secret'), 'x');
      const result = await sh(
        `cat "${scratch.root}/secret" "$1/../secret" /root/.profile; ls /home /tmp; true`,
      );
      expect(result.stdout.text).not.toContain('x\n');
      expect(
        result.stderr.text.match(/No such file|cannot open|Permission denied/g)!.length,
      ).toBeGreaterThan(2);
    });

    it('cannot kill anything outside', async () => {
      const mark = marker();
      endMarkedAfterTest(mark);
      const result = await sh('setsid sleep $MARK & kill -9 -1; echo $?', { MARK: mark });
      // kill(2): -1 spares the caller itself.
      expect(result.stdout.text).toBe('0\n');
      expect(marked(mark)).toEqual([]);
      expect((await sh('echo fine')).stdout.text).toBe('fine\n');
    });
  });
});
