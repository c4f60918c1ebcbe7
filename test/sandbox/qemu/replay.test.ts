/** The same burst comes to the same end as child processes and in microVMs. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

  it('has the packages beside the handlers: a venv of Python, and node_modules', {
    timeout: 300_000,
  }, async () => {
    const cwd = scratch();
    const handlers = join(cwd, 'handlers');
    const venv = join(handlers, '.venv');
    execFileSync('python3', ['-m', 'venv', '--without-pip', venv]);
    const [python] = readdirSync(join(venv, 'lib'));
    const files = {
      [`.venv/lib/${python}/site-packages/greeting.py`]:
        'def greet(name):\n    return f"hi {name}"\n',
      'node_modules/greeting/package.json': '{"type":"module","exports":"./index.js"}',
      'node_modules/greeting/index.js': 'export const greet = (name) => `hi ${name}`;\n',
      'py.py': 'import greeting\nprint(greeting.greet("python"))\n',
      'js.mjs': "import { greet } from 'greeting';\nconsole.log(greet('node'));\n",
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(handlers, name)), { recursive: true });
      writeFileSync(join(handlers, name), text);
    }
    const config = { interpreters: { '.py': ['.venv/bin/python3'] } };
    writeFileSync(join(cwd, 'jobq.config.json'), JSON.stringify(config));
    const lines = ['python', 'node'].map((name) =>
      JSON.stringify({
        at: '0s',
        kind: name === 'node' ? 'js' : 'py',
        payload: {},
        max_attempts: 1,
        expect: { status: 'done', stdout: `hi ${name}\n` },
      }),
    );
    writeFileSync(join(cwd, 'burst.jsonl'), lines.join('\n'));
    const replayed = await jobq(['replay', 'burst.jsonl', '--sandbox', 'qemu'], { cwd });
    expect(replayed.stdout + replayed.stderr).toMatch(/Passed: every job ended as it should/);
    expect(replayed.status).toBe(0);
  });
});
