/** The arrows of docs/architecture.md are rules that fail when one breaks. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { jobq, scratch } from './support/cli.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Arrows that are forbidden, and the rule that says so. */
const FORBIDDEN = [
  ['src/job/a.ts', 'src/errors.ts', 'job-imports-nothing'],
  ['src/db/a.ts', 'src/queue/z.ts', 'db'],
  ['src/queue/a.ts', 'src/drain/z.ts', 'queue'],
  ['src/queue/b.ts', 'src/db/pglite.ts', 'queue'],
  ['src/queue/c.ts', 'src/config.ts', 'wiring-is-for-the-cli'],
  ['src/sandbox/a.ts', 'src/queue/z.ts', 'sandbox'],
  ['src/drain/a.ts', 'src/api/z.ts', 'drain'],
  ['src/drain/b.ts', 'src/sandbox/process/z.ts', 'drain'],
  ['src/api/a.ts', 'src/replay/z.ts', 'api'],
  ['src/replay/a.ts', 'src/api/app.ts', 'replay'],
  ['src/world.ts', 'src/cli/z.ts', 'cli-is-the-top'],
  ['src/queue/one.ts', 'src/queue/two.ts', 'no-cycles'],
] as const;

/** Makes the cycle above whole. */
const BACK = [['src/queue/two.ts', 'src/queue/one.ts']] as const;

const ALLOWED = [
  ['src/drain/c.ts', 'src/queue/z.ts'],
  ['src/queue/d.ts', 'src/db/port.ts'],
  ['src/cli/a.ts', 'src/world.ts'],
] as const;

it('the architecture rules catch each forbidden arrow, and nothing else', async () => {
  const cwd = scratch();
  const arrows = [...FORBIDDEN, ...BACK, ...ALLOWED];
  const files = new Map<string, string>(arrows.map(([, to]) => [to, 'export const x = 1;\n']));
  for (const [from, to] of arrows) {
    const relative = path.relative(path.dirname(from), to).replace(/\.ts$/, '.js');
    const target = relative.startsWith('.') ? relative : `./${relative}`;
    files.set(from, `import { x as y } from '${target}';\nexport const x: number = y;\n`);
  }
  for (const [name, text] of files) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  writeFileSync(path.join(cwd, 'tsconfig.json'), '{}');
  writeFileSync(path.join(cwd, 'package.json'), '{"type": "module"}');

  const { stdout } = await jobq(
    ['src', '--config', path.join(ROOT, '.dependency-cruiser.cjs'), '--output-type', 'json'],
    { cwd, command: [path.join(ROOT, 'node_modules/.bin/depcruise')] },
  );
  const { summary } = JSON.parse(stdout) as {
    summary: { violations: { from: string; to: string; rule: { name: string } }[] };
  };
  const found = summary.violations.map(({ from, to, rule }) => `${from} → ${to}: ${rule.name}`);
  for (const [from, to, rule] of FORBIDDEN) expect(found).toContain(`${from} → ${to}: ${rule}`);
  for (const [from] of ALLOWED) expect(found.join('\n')).not.toContain(from);
});
