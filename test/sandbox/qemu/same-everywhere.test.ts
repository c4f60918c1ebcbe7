/** `jobq-dev test` holds what a handler does here against what it does in a microVM. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jobq, scratch } from '../../support/cli.js';
import { describeMachines, withWhy } from './machines.js';

const HANDLERS = {
  'same.py': `import json, os, sys
payload = json.load(open(sys.argv[1]))
with open(os.path.join(os.environ["JOBQ_OUTPUT_DIR"], "sum"), "w") as file:
    file.write(str(sum(payload["parts"])))
`,
  // On the developer's machine only.
  'host.sh': 'cat "$(cat "$(dirname "$0")/where")"',
};

describeMachines(withWhy('the check same-everywhere'), () => {
  it('passes what does the same, and names what only this machine has', {
    timeout: 300_000,
  }, async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, 'handlers'));
    writeFileSync(join(cwd, 'only-here'), 'a file that no image holds\n');
    writeFileSync(join(cwd, 'handlers/where'), join(cwd, 'only-here'));
    for (const [name, text] of Object.entries(HANDLERS)) {
      writeFileSync(join(cwd, 'handlers', name), text);
    }
    writeFileSync(join(cwd, 'handlers/same.cases.jsonl'), '{"payload":{"parts":[1,2,3]}}\n');
    writeFileSync(join(cwd, 'handlers/host.cases.jsonl'), '{"payload":{}}\n');
    const built = await jobq(['sandbox', 'build', '--json'], { cwd });
    expect(built.status).toBe(0);

    const tested = await jobq(['test', '--only', 'same-everywhere', '--json'], { cwd });
    expect(tested.status).toBe(1);
    const { results } = JSON.parse(tested.stdout) as {
      results: { kind: string; check: string; verdict: string; findings: object[] }[];
    };
    const of = (wanted: string) =>
      results.find(({ kind, check }) => kind === wanted && check === 'same-everywhere');
    expect(of('same')).toMatchObject({ verdict: 'passed' });
    const { verdict, findings } = of('host')!;
    expect(verdict).toBe('failed');
    expect(findings[0]).toMatchObject({
      fault: 'differs-elsewhere',
      message: expect.stringMatching(/^in qemu .*: .*No such file or directory/),
    });
  });
});
