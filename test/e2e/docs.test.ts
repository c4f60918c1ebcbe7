/** Every command that the docs show is run, in the order shown, in a folder of its own. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { jobq, scratch, start } from '../support/cli.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const DOCUMENTS = ['README.md', 'fixtures/README.md', 'CHANGELOG.md']
  .concat(readdirSync(path.join(ROOT, 'docs')).map((name) => `docs/${name}`))
  .filter((name) => name.endsWith('.md'));

/** Commands that are no jobq-dev command, and where they are run. */
const ELSEWHERE: Record<string, string> = {
  'npm ci && npm start': 'test/e2e/demo.test.ts, and .ci/run',
  'npm ci && npm test': '.ci/run',
  'npm run bench': 'by hand: it measures',
  'npm run test:model': '.ci/run',
  'npm run test:mutants': '.ci/run',
  'npx vitest run test/queue/interleavings': 'npm test runs it',
  'npm run fuzz -- --seconds 60': '.ci/run',
  'npm run chaos -- --short': '.ci/run',
  'npm run chaos -- --minutes 10': 'by hand: the same for longer',
  'npm run chaos -- --minutes 3 --break fence': 'by hand: it breaks the queue on purpose',
  'npm run chaos -- --fleet': '.ci/run, with fewer jobs',
  'npm run test:durability -- --kills 200': '.ci/run, with fewer kills',
  'node fixtures/make-github-webhooks.mjs': 'test/fixtures/github-webhooks.test.ts',
};

/** The lines of indented blocks that are commands, without what is said behind them. */
function commandsIn(document: string): string[] {
  return readFileSync(path.join(ROOT, document), 'utf8')
    .split('\n')
    .filter((line) => /^ {4}(npx |npm |node |jobq-dev)/.test(line))
    .map((line) => line.trim().replace(/ {2,}.*$/, ''));
}

/** Splits as a shell does, for the quoting that the docs use. */
function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare!,
  );
}

describe.each(DOCUMENTS)('%s', (document) => {
  const commands = commandsIn(document);

  it('shows only commands that are run somewhere', () => {
    for (const command of commands) {
      if (/^(npx )?jobq-dev\b/.test(command)) continue;
      expect(Object.keys(ELSEWHERE), command).toContain(command);
    }
  });

  const ours = commands.filter((command) => /^(npx )?jobq-dev\b/.test(command));
  it.runIf(ours.length > 0)('shows commands that work', { timeout: 300_000 }, async () => {
    const cwd = document === 'fixtures/README.md' ? ROOT : scratch();
    if (cwd !== ROOT) await jobq(['init'], { cwd });
    for (const command of ours) {
      const args = words(command.replace(/^(npx )?jobq-dev\s*/, ''));
      if (args.length === 0) {
        const emulator = start(['--port', '0'], { cwd });
        await emulator.seen(/^jobq-dev ready at/m);
        emulator.child.kill('SIGINT');
        expect((await emulator.ended).status).toBe(130);
        continue;
      }
      const live = args.includes('--live') ? start(['--port', '0'], { cwd }) : undefined;
      await live?.seen(/^jobq-dev ready at/m);
      const { status, stderr } = await jobq(args, { cwd });
      live?.child.kill('SIGINT');
      await live?.ended;
      expect(stderr, command).not.toMatch(/error:/);
      expect(status, command).toBe(0);
    }
  });
});
