/** The check `same-everywhere`, with a second provider whose sandboxes differ in one variable. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fitted } from '#src/handler-test/fitted.js';
import type { CheckResult } from '#src/handler-test/report.js';
import type { SandboxProvider } from '#src/sandbox/port.js';
import { createProcessProvider } from '#src/sandbox/process/index.js';
import { scratchFolder } from '../support/cli.js';
import { testFolder } from './test-folder.js';

const HANDLERS = {
  'says.sh': 'echo "in $WHERE"',
  'writes.sh': 'echo "in $WHERE" >"$JOBQ_OUTPUT_DIR/where"',
  'fails.sh': '[ -z "$WHERE" ] || { echo "not here" >&2; exit 3; }',
  'same.sh': 'echo done; echo done >"$JOBQ_OUTPUT_DIR/done"',
};

describe('same-everywhere', () => {
  const { dir, remove } = scratchFolder();
  let elsewhere: SandboxProvider;
  let results: CheckResult[] = [];

  beforeAll(async () => {
    mkdirSync(path.join(dir, 'handlers'));
    for (const [name, text] of Object.entries(HANDLERS)) {
      writeFileSync(path.join(dir, 'handlers', name), text);
      const cases = path.join(dir, 'handlers', name.replace('.sh', '.cases.jsonl'));
      writeFileSync(cases, '{"payload":{},"max_attempts":1}\n');
    }
    elsewhere = await createProcessProvider({
      workDir: path.join(dir, 'work'),
      journalDir: path.join(dir, 'journal'),
    });
    const moved = fitted(elsewhere, () => ({ files: {}, env: { WHERE: 'elsewhere' } }));
    ({ results } = await testFolder(dir, { checks: ['same-everywhere'], elsewhere: moved }));
  });
  afterAll(async () => {
    await elsewhere.close();
    remove();
  });

  const messages = (kind: string) =>
    results.filter((each) => each.kind === kind).flatMap(({ findings }) => findings);

  it('passes what does the same in both', () => {
    expect(results.find(({ kind }) => kind === 'same')).toMatchObject({ verdict: 'passed' });
  });

  it('names another output, another file and another end', () => {
    const fault = 'differs-elsewhere';
    expect(messages('says')).toMatchObject([
      { fault, message: expect.stringMatching(/^in .+: stdout differs$/) },
    ]);
    expect(messages('says')[0]!.diff).toMatch(/-in \n\+in elsewhere/);
    expect(messages('writes')).toMatchObject([
      { fault, message: expect.stringMatching(/^in .+: where differs$/) },
    ]);
    expect(messages('fails')).toMatchObject([
      {
        fault,
        message: expect.stringContaining('dead after 1 attempt, here done after 1: not here'),
      },
    ]);
  });
});
